# An image that runs `discreet` as a user who is not root: docs/starting.md says how to build and use it.
FROM python:3.13-slim AS made
COPY pyproject.toml hatch_build.py README.md LICENSE /source/
COPY src /source/src
RUN python -m venv /opt/discreet/python \
 && /opt/discreet/python/bin/pip install --no-cache-dir '/source[sql,excel,server]'

FROM python:3.13-slim
COPY --from=made /opt/discreet/python /opt/discreet/python
# Compiled for all users, so that nobody waits for it: only root can write there.
RUN /opt/discreet/python/bin/discreet warmup --shared /opt/discreet/kernels \
 && useradd --create-home discreet
ENV PATH=/opt/discreet/python/bin:$PATH DISCREET_KERNELS=/opt/discreet/kernels
USER discreet
WORKDIR /data
ENTRYPOINT ["discreet"]
CMD ["--help"]
