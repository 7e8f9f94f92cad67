// A run that waits in the middle until it is told to go on.
export const PLAY = { play: 'anthropic/two-messages.sse', holds: [700] };

// What is on the page by then.
export const SEEN = 'first.';
