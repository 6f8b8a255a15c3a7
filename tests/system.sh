# Install what tests need from the system, where that is possible and not there yet.
set -eu

has_postgres() {
  command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

if has_postgres; then
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
  echo "No PostgreSQL server found: its tests will be skipped. Install one (Debian: apt-get install postgresql)." >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y postgresql >/dev/null
