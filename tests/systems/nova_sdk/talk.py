# mypy: ignore-errors
"""The vendor's client holds a short talk: ``python talk.py PORT EVENTS``; run by a Python that has the SDK.

EVENTS is a file with a JSON list of texts: what is sent, in order. What comes is printed, a JSON list of texts.
"""

import asyncio
import json
import sys
from pathlib import Path

from aws_sdk_bedrock_runtime.client import AsyncBedrockRuntimeClient
from aws_sdk_bedrock_runtime.config import AsyncBedrockRuntimeConfig
from aws_sdk_bedrock_runtime.models import (
    BidirectionalInputPayloadPart,
    InvokeModelWithBidirectionalStreamInputChunk,
    InvokeModelWithBidirectionalStreamOperationInput,
)
from awscrt import io
from smithy_aws_core.identity import AWSCredentialsIdentity
from smithy_aws_core.identity.static import StaticCredentialsResolver
from smithy_http.aio.crt import AWSCRTHTTPClient

MODEL = "amazon.nova-2-sonic-v1:0"


def trusting() -> None:
    """Take the certificate of a server within this machine."""
    plain = io.TlsContextOptions.__init__

    def init(self) -> None:
        plain(self)
        self.verify_peer = False

    io.TlsContextOptions.__init__ = init


async def main(port: int, events: list[str]) -> list[str]:
    trusting()
    known = AWSCredentialsIdentity(access_key_id="AKIDFACADE", secret_access_key="facade-secret")
    config = await AsyncBedrockRuntimeConfig.resolve(
        endpoint_uri=f"https://127.0.0.1:{port}",
        region="us-east-1",
        aws_credentials_identity_resolver=StaticCredentialsResolver(known),
        transport=AWSCRTHTTPClient(),
    )
    client = AsyncBedrockRuntimeClient(config)
    stream = await client.invoke_model_with_bidirectional_stream(
        InvokeModelWithBidirectionalStreamOperationInput(model_id=MODEL)
    )

    async def send(text: str) -> None:
        part = BidirectionalInputPayloadPart(bytes_=text.encode())
        await stream.input_stream.send(InvokeModelWithBidirectionalStreamInputChunk(value=part))

    came = []
    for text in events[:-3]:
        await send(text)
    _, output = await stream.await_output()
    while True:
        event = await output.receive()
        if event is None:
            break
        came.append(event.value.bytes_.decode())
        if "END_TURN" in came[-1]:
            break
    for text in events[-3:]:
        await send(text)
    await stream.input_stream.close()
    return came


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())))))
