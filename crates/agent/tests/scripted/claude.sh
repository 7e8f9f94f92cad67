#!/bin/sh
# Speaks as Claude Code does: wants to run a command, and does if it is allowed to.
# What it is called with goes to `called`, one line a run.
echo "$*" >>called
case " $* " in
  *" --ignore-the-end "*) trap '' TERM; sleep 300 & echo $! >child ;;
  *" --fail "*) echo "no key sk-secret-$SECRET_KEY here" >&2; exit 3 ;;
  *" --silent "*) sleep 300 ;;
  *" --forgets "*" --resume=s-1 "*)
    echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: s-1"]}'
    exit 1
    ;;
esac
say() { printf '%s\n' "$1"; }
text() {
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"message_start","message":{"id":"'"$1"'","role":"assistant","model":"m","content":[]}}}'
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}'
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'"$2"'"}}}'
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"content_block_stop","index":0}}'
}
stop() {
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"message_delta","delta":{"stop_reason":"'"$1"'"}}}'
  say '{"type":"stream_event","session_id":"s-1","event":{"type":"message_stop"}}'
}
tool='{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"touch made"}}'
read -r hello
say '{"type":"control_response","response":{"subtype":"success","request_id":"millpond-hello","response":{}}}'
read -r prompt
say '{"type":"system","subtype":"init","session_id":"s-1","model":"m","tools":["Bash"]}'
text m1 'I will look.'
say '{"type":"stream_event","session_id":"s-1","event":{"type":"content_block_start","index":1,"content_block":'"$tool"'}}'
say '{"type":"stream_event","session_id":"s-1","event":{"type":"content_block_stop","index":1}}'
stop tool_use
say '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch made"},"tool_use_id":"t1"}}'
read -r answer
case $answer in
  *'"subtype":"interrupt"'*)
    case " $* " in
      *" --last-words "*)
        say '{"type":"control_response","response":{"subtype":"success","request_id":"millpond-stop"}}'
        text m2 'Stopped while looking.'
        ;;
    esac
    wait
    exit
    ;;
  *'"behavior":"allow"'*'"updatedInput":{"command":"touch made"}'*) touch made; output=done error=false ;;
  *) output='It was not allowed.' error=true ;;
esac
say '{"type":"user","session_id":"s-1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"'"$output"'","is_error":'$error'}]}}'
text m2 "So: $output"
stop end_turn
say '{"type":"result","subtype":"success","is_error":false,"result":"So: '"$output"'","session_id":"s-1","num_turns":2}'
