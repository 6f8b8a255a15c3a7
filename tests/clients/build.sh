# Build the TypeScript client: `make clients`. What its tests need is installed from its lock, by hash, and only when the
# lock has changed. Where that cannot be, it is said, and the tests are skipped; on a forge (CI is set) it is an error.
set -eu
cd "$(dirname "$0")/../../clients/typescript"

without() {
  echo "$1, so the tests of the TypeScript client are skipped." >&2
  [ -z "${CI:-}" ] && exit 0
  exit 1
}
command -v npm >/dev/null 2>&1 || without "npm is not on this machine"
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || without "Node is older than 20"
if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --ignore-scripts --loglevel=error || without "npm ci could not install what builds it (is there a network?)"
  touch node_modules/.package-lock.json
fi
page=../../src/discreet/collector/static/take-part.js
if [ ! -f dist/index.js ] || [ ! -f $page ] || [ -n "$(find src package.json tsconfig.json -newer dist/index.js)" ]; then
  npm run --silent build
fi
