"""Adds the frames that a provider sends around the deltas, where the made-up stream has none.

The AI SDK answers a delta of a part that was never opened with an error frame, which would be
charged to it. Everyone, Millpond too, reads the completed bytes. A stream that has the frames
is left as it is.
    complete.py FILE chat|responses|anthropic
"""
import json
import sys

path, provider = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    frames = [frame for frame in file.read().split("\n\n") if frame]
payloads = [json.loads(f[f.index("data: ") + 6 :]) if "{" in f else {} for f in frames]


def chat():
    return frames + ["data: [DONE]"] if frames[-1] != "data: [DONE]" else frames


def frame(type, **rest):
    return f"event: {type}\ndata: " + json.dumps({"type": type, **rest}, ensure_ascii=False)


def anthropic():
    opened = [p["index"] for p in payloads if p["type"] == "content_block_start"]
    if 1 in opened:
        return frames
    out, last = [], None
    blocks = [{"type": "thinking", "thinking": "", "signature": ""}, {"type": "text", "text": ""}]
    for text, payload in zip(frames, payloads):
        index = payload.get("index")
        if index != last:
            if last == 0:
                sign = {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}
                out.append(frame("content_block_delta", index=0, delta=sign))
            if last is not None:
                out.append(frame("content_block_stop", index=last))
            if index is not None and index not in opened:
                out.append(frame("content_block_start", index=index, content_block=blocks[index]))
        last = index
        out.append(text)
    return out


def responses():
    if any(p["type"] == "response.output_item.done" for p in payloads):
        return frames
    shared = next(p["item_id"] for p in payloads if "item_id" in p)
    ids = [shared.replace("msg_", kind) for kind in ("rs_", "msg_", "fc_")]
    said = ["", "", ""]
    for payload in payloads:
        if "delta" in payload:
            said[payload["output_index"]] += payload["delta"]
    part = {"type": "output_text", "annotations": [], "logprobs": []}
    item = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": said[0]}]},
        {"type": "message", "role": "assistant", "content": [{**part, "text": said[1]}]},
        {"type": "function_call", "call_id": "call_1", "name": "sum", "arguments": said[2]},
    ]
    item = [{"id": id, "status": "completed", **rest} for id, rest in zip(ids, item)]
    empty = [{"summary": []}, {"content": []}, {"arguments": ""}]
    place = [{"item_id": id, "output_index": at} for at, id in enumerate(ids)]
    place[0]["summary_index"] = place[1]["content_index"] = 0

    def opening(at):
        began = {**item[at], **empty[at], "status": "in_progress"}
        yield frame("response.output_item.added", output_index=at, item=began)
        if at == 0:
            bare = {"type": "summary_text", "text": ""}
            yield frame("response.reasoning_summary_part.added", **place[0], part=bare)
        if at == 1:
            yield frame("response.content_part.added", **place[1], part={**part, "text": ""})

    def closing(at):
        if at == 0:
            whole = item[0]["summary"][0]
            yield frame("response.reasoning_summary_text.done", **place[0], text=said[0])
            yield frame("response.reasoning_summary_part.done", **place[0], part=whole)
        if at == 1:
            whole = item[1]["content"][0]
            yield frame("response.output_text.done", **place[1], text=said[1], logprobs=[])
            yield frame("response.content_part.done", **place[1], part=whole)
        if at == 2:
            done = "response.function_call_arguments.done"
            yield frame(done, **place[2], name="sum", arguments=said[2])
        yield frame("response.output_item.done", output_index=at, item=item[at])

    def response(type, **rest):
        # The stream's own frame lacks what the SDKs' types ask for.
        common = {"id": "resp_1", "object": "response", "created_at": 1794000000}
        common |= {"model": "pond-large", "tools": [], "tool_choice": "auto"}
        return frame(type, response={**common, "parallel_tool_calls": True, **rest})

    usage = {"input_tokens": 1, "output_tokens": 9, "total_tokens": 10}
    usage["input_tokens_details"] = {"cached_tokens": 0}
    usage["output_tokens_details"] = {"reasoning_tokens": 1}
    out, last = [response("response.created", status="in_progress", output=[])], None
    for text, payload in zip(frames, payloads):
        if "delta" not in payload:
            continue
        index = payload["output_index"]
        if index != last:
            out += closing(last) if last is not None else []
            out += opening(index)
        last = index
        out.append(text.replace(shared, ids[index], 1))
    out += closing(last)
    out.append(response("response.completed", status="completed", output=item, usage=usage))
    # Numbers in order, as the provider counts them.
    for at, text in enumerate(out):
        head, data = text.split("data: ", 1)
        number = {**json.loads(data), "sequence_number": at}
        out[at] = f"{head}data: " + json.dumps(number, ensure_ascii=False, separators=(",", ":"))
    return out


done = {"chat": chat, "responses": responses, "anthropic": anthropic}[provider]()
with open(path, "w", encoding="utf-8") as file:
    file.write("\n\n".join(done) + "\n\n")
