#!/usr/bin/env bash
# Somebody comes while a run is going: the page so far, then what comes, and in the end the same as all.
source "$(dirname "$0")/common.sh"
session=$(new_session)
begin_run
play 1 14
open_tab early bubbles "$gateway"
tell early "until I will count."
echo "-- the run is half done; curl asks for the page"
call "$gateway/v1/sessions/$session/snapshot?view=bubbles"
echo "-- somebody else comes"
open_tab late bubbles "$gateway"
tell late "until I will count."
tell late page
play 15 34
end_run
for tab in early late; do
  tell "$tab" ended
  tell "$tab" page
done
echo "-- curl reads the whole stream afterwards"
read_stream "$gateway/v1/sessions/$session/stream?view=bubbles&from=start" | tee "$work/whole"
echo "-- and what came after the third frame"
third=$(sed -n 's/^id://p' "$work/whole" | sed -n 3p)
read_stream -H "last-event-id: $third" "$gateway/v1/sessions/$session/stream?view=bubbles"
