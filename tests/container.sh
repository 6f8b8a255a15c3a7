# Build the image of the Dockerfile, and see that it works and serves: `make container`. Where there is no Docker that is
# said; on a forge (CI is set) it is an error.
set -eu
cd "$(dirname "$0")/.."

if ! docker info >/dev/null 2>&1; then
  echo "No Docker runs on this machine, so the image is not built." >&2
  [ -z "${CI:-}" ] && exit 0
  exit 1
fi
docker build --tag discreet .
docker run --rm --read-only discreet demo
# A free port of the loopback, and a directory that goes with the container.
service=$(docker run --detach --rm --publish 127.0.0.1::8000 --tmpfs /data:mode=1777 discreet serve studies --host 0.0.0.0)
trap 'docker stop "$service" >/dev/null' EXIT
place=$(docker port "$service" 8000/tcp)
curl --fail --silent --show-error --retry 30 --retry-delay 1 --retry-all-errors "http://$place/v1/ready"
