# Install what tests need from the system, where that is possible and not there yet: a PostgreSQL server to read from,
# and a compiler for PyFIM.
set -eu

missing=""
command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="postgresql"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
header=$(${PYTHON:-python3} -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -f "$header/Python.h" ] || missing="$missing python3-dev"

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
  echo "Not found, so the tests that need it are skipped: $missing" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -qq -y $missing >/dev/null
