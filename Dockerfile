FROM python:3.13-slim AS build
RUN pip install --no-cache-dir uv
ENV VIRTUAL_ENV=/opt/judge UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1
WORKDIR /src
RUN uv venv "$VIRTUAL_ENV"
# The dependencies have their own layer, so that a change of the code does not install them again.
# They include all optional engines; requirements.lock has none of them, 110 MB.
COPY requirements-extras.lock ./
RUN uv pip sync --require-hashes requirements-extras.lock
COPY pyproject.toml README.md LICENSE ./
COPY judge ./judge
COPY codegraph ./codegraph
RUN uv pip install --no-deps ./codegraph .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /app judge \
    && install -d -o judge -g judge /data
COPY --from=build /opt/judge /opt/judge
WORKDIR /app
COPY config ./config
ENV PATH=/opt/judge/bin:$PATH PYTHONUNBUFFERED=1 JUDGE_DATA_DIR=/data
VOLUME /data
USER judge
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health/live', timeout=2)"]
ENTRYPOINT ["judge"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
