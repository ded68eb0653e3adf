package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// block is one example of README.md: mark is the text after its language.
type block struct{ language, mark, text string }

// runsOn marks commands that end when another block ends them.
const runsOn = "runs until it is stopped"

var fenced = regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$")

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	indented := regexp.MustCompile(`(?m)^(?:    |\t)\S.*`).FindAllString(fenced.ReplaceAllString(string(text), ""), -1)
	assert.Empty(t, indented, "commands stand in ```sh, where they are found")
	var blocks []block
	for _, b := range fenced.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{b[1], b[2], b[3]})
	}
	return blocks
}

// The files and commands in README.md work unchanged, one after the other, in a fresh checkout.
func TestTheExamplesOfTheReadmeRunAsTheyStand(t *testing.T) {
	build(t)
	if !namespaces.Entered() {
		t.Skip("drivers of the examples mount")
	}
	c := newCheckout(t)
	commands := 0
	for _, b := range readmeBlocks(t) {
		program, needs := strings.CutPrefix(b.mark, "needs ")
		_, missing := exec.LookPath(program)
		switch {
		case b.language == "yaml":
			c.keep(b)
		case b.language != "sh":
		case needs && missing != nil:
			t.Logf("not run without %s:\n%s", program, b.text)
		case b.mark == runsOn:
			c.start(b)
		default:
			require.True(t, needs || b.mark == "", "%q is no mark that a block may have", b.mark)
			c.run(b)
			commands++
		}
	}
	assert.GreaterOrEqual(t, commands, 4, "few blocks are marked")
}

// checkout is a copy of this repository without build output, and a shell for the commands.
type checkout struct {
	t           *testing.T
	dir         string
	environment []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	p := newPlace(t, "")
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	for _, e := range entries {
		if from := filepath.Join("../..", e.Name()); !slices.Contains([]string{".git", "bin"}, e.Name()) {
			out, err := exec.Command("cp", "-r", from, p.dir).CombinedOutput()
			require.NoError(t, err, string(out))
		}
	}
	home := t.TempDir()
	c := &checkout{t, p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + home}}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY"} { // not those of the new home
		value, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		c.environment = append(c.environment, name+"="+strings.TrimSpace(string(value)))
	}
	return c
}

// keep writes a file under the name in its first line.
func (c *checkout) keep(b block) {
	c.t.Helper()
	name, _, _ := strings.Cut(b.text, "\n")
	require.Regexp(c.t, `^# [a-z-]+\.yaml$`, name, "the first line says how the file is called")
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, name[len("# "):]), []byte(b.text), 0o644))
}

// shell runs a block in the environment that the previous blocks have left.
func (c *checkout) shell(b block) *exec.Cmd {
	after := filepath.Join(c.dir, "environment")
	script := fmt.Sprintf("set -e\nif [ -e %[1]s ]; then . %[1]s; fi\n%[2]sexport -p > %[1]s\n", after, b.text)
	command := exec.CommandContext(c.t.Context(), "sh", "-c", script)
	command.Dir, command.Env = c.dir, c.environment
	return command
}

func (c *checkout) run(b block) {
	c.t.Helper()
	out, err := c.shell(b).CombinedOutput()
	require.NoError(c.t, err, "%s\n%s", b.text, out)
}

// start runs a block until another one, or the end of the test, stops it.
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
		_ = command.Wait() // ended already, or by this signal
	})
	said := func() string {
		text, _ := os.ReadFile(output)
		return string(text)
	}
	require.Eventually(c.t, func() bool { return said() != "" }, time.Minute, 10*time.Millisecond, b.text)
	require.NotContains(c.t, said(), "csisim: ", b.text)
}
