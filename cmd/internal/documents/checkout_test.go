package documents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// checkout is a copy of this repository without built files, and the shell of its reader.
type checkout struct {
	t           *testing.T
	dir         string
	environment []string
	printed     string // by the last command
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	p := clitest.NewPlace(t, "")
	copyFiles := `git ls-files -z -co --exclude-standard | tar -c --null -T - | tar -x -C "$0"`
	command := exec.Command("sh", "-c", copyFiles, p.Dir)
	command.Dir = "../../.."
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	home := t.TempDir()
	environment := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + home, "GOFLAGS=-trimpath"}
	// These variables keep their values, although the home directory is new.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY"} {
		value, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		environment = append(environment, name+"="+strings.TrimSpace(string(value)))
	}
	return &checkout{t: t, dir: p.Dir, environment: environment}
}

// keep writes the block to the file that its first line names.
func (c *checkout) keep(b block) {
	c.t.Helper()
	if b.language == "text" || b.language == "mermaid" {
		return
	}
	name := fileName.FindStringSubmatch(b.text)
	require.NotNil(c.t, name, "neither a file name nor the mark %q:\n%s", fragment, b.text)
	file := filepath.Join(c.dir, name[1])
	require.NoError(c.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(c.t, os.WriteFile(file, []byte(b.text), 0o644))
}

// apply changes files according to a block with a diff.
func (c *checkout) apply(b block) {
	c.t.Helper()
	command := exec.CommandContext(c.t.Context(), "git", "apply", "--unidiff-zero", "-")
	command.Dir, command.Stdin = c.dir, strings.NewReader(b.text)
	out, err := command.CombinedOutput()
	require.NoError(c.t, err, "%s\n%s", b.text, out)
}

// shell runs a block in the environment and directory in which the previous blocks ended.
func (c *checkout) shell(b block) *exec.Cmd {
	after := filepath.Join(c.dir, "environment")
	script := fmt.Sprintf("set -e\nif [ -e %[1]s ]; then . %[1]s; cd \"$PWD\"; fi\n%[2]sexport PWD; export -p > %[1]s\n", after, b.text)
	command := exec.CommandContext(c.t.Context(), "sh", "-c", script)
	command.Dir, command.Env = c.dir, c.environment
	return command
}

func (c *checkout) run(b block, want int) {
	c.t.Helper()
	out, err := c.shell(b).CombinedOutput()
	c.printed = string(out)
	status := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status, err = exit.ExitCode(), nil
	}
	require.NoError(c.t, err, b.text)
	require.Equal(c.t, want, status, "%s\n%s", b.text, out)
}

// anyText matches any text in a block of output.
var anyText = regexp.MustCompile(` ?… ?`)

// compare checks a block against the last command's output. The output must contain the block's
// lines in this order, and may have other lines between them.
func (c *checkout) compare(b block) {
	c.t.Helper()
	rest := strings.Split(c.printed, "\n")
	for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
		quoted := regexp.QuoteMeta(spaced(line))
		pattern := regexp.MustCompile("^" + anyText.ReplaceAllString(quoted, ".*") + "$")
		found := false
		for !found && len(rest) > 0 {
			found, rest = pattern.MatchString(spaced(rest[0])), rest[1:]
		}
		require.True(c.t, found, "no line of the output is %q:\n%s", line, c.printed)
	}
}

// spaced returns a line with single spaces between its words.
func spaced(line string) string { return strings.Join(strings.Fields(line), " ") }

// start runs a block until another one or the end of the test stops it.
func (c *checkout) start(b block) {
	c.t.Helper()
	output := filepath.Join(c.dir, "output")
	file, err := os.Create(output)
	require.NoError(c.t, err)
	defer file.Close()
	command := c.shell(b)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(c.t, command.Start())
	c.t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGTERM)
		_ = command.Wait() // the block has ended by itself, or by this signal
	})
	printed := func() string {
		text, _ := os.ReadFile(output)
		return string(text)
	}
	// The last line that csisim up prints; notes may precede it.
	isUp := func() bool { return strings.Contains(printed(), "Stop it with ") }
	require.Eventually(c.t, isUp, time.Minute, 10*time.Millisecond, b.text)
	require.NotContains(c.t, printed(), "csisim: ", b.text)
}
