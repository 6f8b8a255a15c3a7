# Install what tests need from the system, where that is possible and not there yet: a PostgreSQL server to read from,
# a compiler for PyFIM, Node for the TypeScript client, a browser for its page, Java for Spark, and strace, which makes
# system calls fail. Each is named, with its reason, before anything is installed; DISCREET_SYSTEM=no installs nothing, and the tests
# that need it are skipped.
set -eu

missing=""
reasons=""
want() {
  missing="$missing $1"
  reasons="$reasons
  $1: $2"
}
command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
  want "postgresql" "a server that the readers' tests read from"
command -v cc >/dev/null 2>&1 || want "gcc libc6-dev" "compiles PyFIM, which mining is compared with"
header=$(${PYTHON:-python3} -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -f "$header/Python.h" ] || want "python3-dev" "compiles PyFIM, which mining is compared with"
command -v npm >/dev/null 2>&1 || want "nodejs npm" "builds and tests the TypeScript client"
command -v chromium >/dev/null 2>&1 || want "chromium" "opens the page on which people take part in a study"
command -v java >/dev/null 2>&1 || want "openjdk-17-jre-headless" "runs Spark, on which mechanisms are tried too"
[ "$(uname)" != Linux ] || command -v strace >/dev/null 2>&1 ||
  want "strace" "makes system calls fail, for the tests of faults"

[ -n "$missing" ] || exit 0
if [ "${DISCREET_SYSTEM:-yes}" = no ] || ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
  echo "Not found, so the tests that need it are skipped:$reasons" >&2
  exit 0
fi
echo "The system's packages that tests need are now installed with apt-get (DISCREET_SYSTEM=no forbids it):$reasons" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -qq -y $missing >/dev/null
