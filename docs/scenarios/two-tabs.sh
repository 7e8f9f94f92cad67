#!/usr/bin/env bash
# One run in two tabs, each in a view of its own: what is hidden in one is there in the other.
source "$(dirname "$0")/common.sh"
session=$(new_session)
open_tab quiet latest "$gateway"
open_tab thorough transcript "$gateway"
begin_run
for part in "1 14 I will count." "15 29 There are 12 reeds."; do
  read -r from to words <<<"$part"
  play "$from" "$to"
  echo "-- after line $to"
  for tab in quiet thorough; do
    tell "$tab" "until $words"
    tell "$tab" page
  done
done
play 30 34
end_run
for tab in quiet thorough; do
  tell "$tab" ended
  tell "$tab" page
done
