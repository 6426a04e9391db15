# An image with axe-lsp, for CI (docs/ci.md): docker build -t axe-lsp . && docker run --rm -v "$PWD:/work" axe-lsp check
FROM python:3.13-slim AS build
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends git >/dev/null
COPY . /source
RUN python3 -m venv /opt/axe-lsp && /opt/axe-lsp/bin/pip install -q --no-cache-dir "/source[mcp]"

# Agents use git for copies and for undo.
FROM python:3.13-slim
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends git >/dev/null && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/axe-lsp /opt/axe-lsp
RUN useradd --create-home axe
USER axe
WORKDIR /work
ENTRYPOINT ["/opt/axe-lsp/bin/axe-lsp"]
CMD ["check"]
