#!/usr/bin/env bash
# The network of a tab dies without a word. The run goes on, others see it, and the tab comes back to all of it.
source "$(dirname "$0")/common.sh"
session=$(new_session)
open_tab train steps "$through_wire"
open_tab desk steps "$gateway"
begin_run
play 1 14
for tab in train desk; do tell "$tab" "until I will count."; done
echo "-- the train goes into a tunnel"
unplug
play 15 34
end_run
tell desk ended
echo "-- at the desk it is over; in the tunnel nothing has changed"
tell desk page
tell train page
echo "-- the train comes out again"
plug_in
tell train again
tell train ended
tell train page
