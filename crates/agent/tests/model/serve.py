"""Runs llama.cpp's server inside this process until it is stopped."""

import pathlib
import signal
import sys

import xllamacpp

port, weights = int(sys.argv[1]), sys.argv[2]
params = xllamacpp.CommonParams()
params.model.path = weights
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = 4096
params.n_parallel = 1
# More threads than idle cores make it slower, not faster.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.use_jinja = True
params.chat_template = pathlib.Path(__file__).with_name("template.jinja").read_text()
params.verbosity = 0
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
signal.pause()
