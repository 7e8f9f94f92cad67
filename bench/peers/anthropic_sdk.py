"""The Anthropic Python SDK: bytes in, typed events out; nothing is written on.
    anthropic_sdk.py FOLDER DELTAS REPEATS
"""
from anthropic import Anthropic

from common import measure


def messages(http):
    sdk = Anthropic(api_key="none", http_client=http)
    ask = [{"role": "user", "content": "Go."}]
    stream = sdk.messages.create(model="any", max_tokens=9, messages=ask, stream=True)
    for event in stream:
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            yield event.delta.text


measure("Anthropic Python SDK", "anthropic", messages)
