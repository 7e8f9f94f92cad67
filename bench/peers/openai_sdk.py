"""The OpenAI Python SDK: bytes in, typed chunks out; nothing is written on.
    openai_sdk.py FOLDER DELTAS REPEATS
"""
from openai import OpenAI

from common import measure


def chat(http):
    sdk = OpenAI(api_key="none", http_client=http)
    ask = [{"role": "user", "content": "Go."}]
    for chunk in sdk.chat.completions.create(model="gpt-5", messages=ask, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content


def responses(http):
    sdk = OpenAI(api_key="none", http_client=http)
    for event in sdk.responses.create(model="gpt-5", input="Go.", stream=True):
        if event.type == "response.output_text.delta":
            yield event.delta


measure("OpenAI Python SDK", "chat", chat)
measure("OpenAI Python SDK", "responses", responses)
