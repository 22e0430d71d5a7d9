package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shelf is a folder of packages as scripts/release leaves it, signed with a key of its own.
type shelf struct {
	t    *testing.T
	dir  string
	keys string
}

func (s shelf) run(command string) string {
	s.t.Helper()
	cmd := exec.Command("bash", "-euc", command)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "GNUPGHOME="+s.keys, "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "%s: %s", command, out)
	return string(out)
}

// sign makes the sums of what lies in the folder now, and signs them.
func (s shelf) sign() {
	s.run(`sha256sum *.deb >SHA256SUMS && gpg -q --batch --yes --armor --detach-sign -o SHA256SUMS.asc SHA256SUMS`)
}

// newShelf makes a package whose program is this test, which has a list of its modules as every Go
// program has.
func newShelf(t *testing.T) shelf {
	t.Helper()
	s := shelf{t, t.TempDir(), t.TempDir()}
	program, err := os.Executable()
	require.NoError(t, err)
	s.run(`chmod 700 "$GNUPGHOME" && gpg -q --batch --passphrase '' --quick-gen-key test ed25519 sign never 2>/dev/null
		gpg -q --batch --export -o vmsbridge.gpg test
		mkdir -p p/DEBIAN p/usr/bin p/usr/share/doc/vmscloud && cp "` + program + `" p/usr/bin/vmscloud
		printf 'Package: vmscloud\nVersion: 1\nArchitecture: all\nMaintainer: x <x@localhost>\nDescription: x\n' >p/DEBIAN/control
		go version -m -json p/usr/bin/vmscloud | jq '{components: ([{name: "stdlib", version: .GoVersion}, (.Deps[]? | {name: .Path, version: .Version})]
			| map(.purl = "pkg:golang/\(.name)@\(.version)"))}' >p/usr/share/doc/vmscloud/sbom.cdx.json
		dpkg-deb -Z none -b p vmscloud_1_all.deb && mv p /` + strings.TrimPrefix(filepath.Join(s.keys, "p"), "/"))
	s.sign()
	return s
}

func (s shelf) verify(args ...string) (out string, code int) {
	cmd := exec.Command("./release", append([]string{"--verify", s.dir}, args...)...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		require.IsType(s.t, &exec.ExitError{}, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// What was changed after it was signed, signed by somebody else, slipped in, or made of something
// else than it says, is refused.
func TestReleaseVerifies(t *testing.T) {
	for _, tool := range []string{"gpg", "gpgv", "jq", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: scripts/deps installs it", tool)
		}
	}
	s := newShelf(t)
	out, code := s.verify()
	require.Zero(t, code, out)
	require.Contains(t, out, "1 packages")

	other := filepath.Join(t.TempDir(), "other.gpg")
	keys := s.keys
	s.keys = t.TempDir()
	s.run(
		`chmod 700 "$GNUPGHOME" && gpg -q --batch --passphrase '' --quick-gen-key other ed25519 sign never 2>/dev/null && gpg -q --batch --export -o ` + other + ` other`)
	s.keys = keys
	out, code = s.verify("--key", other)
	require.Equal(t, 1, code)
	require.Contains(t, out, "do not install these packages")

	s.run(`cp vmscloud_1_all.deb vmscloud_2_all.deb`)
	out, code = s.verify()
	require.Equal(t, 1, code)
	require.Contains(t, out, "vmscloud_2_all.deb is not in SHA256SUMS")
	s.run(`rm vmscloud_2_all.deb && cp vmscloud_1_all.deb kept && echo x >>vmscloud_1_all.deb`)
	out, code = s.verify()
	require.Equal(t, 1, code)
	require.Contains(t, out, "FAILED")

	s.run(`mv kept vmscloud_1_all.deb && echo >>SHA256SUMS`)
	out, code = s.verify()
	require.Equal(t, 1, code)
	require.Contains(t, out, "do not install these packages")

	s.run(`jq '.components |= .[1:]' "$GNUPGHOME"/p/usr/share/doc/vmscloud/sbom.cdx.json >list && mv list "$GNUPGHOME"/p/usr/share/doc/vmscloud/sbom.cdx.json &&
		dpkg-deb -Z none -b "$GNUPGHOME"/p vmscloud_1_all.deb`)
	s.sign()
	out, code = s.verify()
	require.Equal(t, 1, code)
	require.Contains(t, out, "does not list what is in the program")
	require.Contains(t, out, "> stdlib go")

	require.NoError(t, os.Remove(filepath.Join(s.dir, "SHA256SUMS.asc")))
	out, code = s.verify()
	require.Equal(t, 1, code)
	require.Contains(t, out, "it is not signed")
}

// A package puts nothing below /bin and /lib, which are links on today's systems: dpkg would warn
// when it is removed, and lintian refuses it.
func TestPackagesUseNoLinkedFolder(t *testing.T) {
	packages, err := filepath.Glob("../configs/package/vms*.yaml")
	require.NoError(t, err)
	require.Len(t, packages, 2)
	for _, name := range packages {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(text), "dst: /usr/lib/systemd/system/")
		require.NotRegexp(t, `dst: /(bin|sbin|lib)\b`, string(text), name)
	}
}
