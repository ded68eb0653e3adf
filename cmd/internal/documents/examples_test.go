package documents

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// block is one example of a document. mark is the word after its language.
type block struct{ language, mark, text string }

// Marks of blocks. CONTRIBUTING.md explains them.
const (
	runsOn   = "runs until it is stopped"
	output   = "output"
	fragment = "fragment"
)

var (
	fenced   = regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$")
	indented = regexp.MustCompile(`(?m)^(?:    |\t)\S.*`)
	fileName = regexp.MustCompile(`^(?:#|//) ([\w./-]+\.(?:yaml|go|py|js|json|proto))\n`)
)

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", page))
	require.NoError(t, err)
	prose := fenced.ReplaceAllString(string(text), "")
	assert.Empty(t, indented.FindAllString(prose, -1), "commands stand in ```sh, where tests find them")
	var blocks []block
	for _, b := range fenced.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{b[1], b[2], b[3]})
	}
	return blocks
}

// The examples of README.md work word by word, one after the other, in a fresh checkout.
func TestTheExamplesOfTheReadmeRunUnchanged(t *testing.T) {
	clitest.Build(t)
	if !namespaces.Entered() {
		t.Skip("drivers of the examples mount")
	}
	commands := newCheckout(t).follow(blocksOf(t, "README.md"))
	assert.GreaterOrEqual(t, commands, 2, "few blocks are marked")
}

// The examples of each page work, too, with csisim and hostdir in PATH.
func TestTheExamplesOfThePagesRunUnchanged(t *testing.T) {
	clitest.Build(t)
	if !namespaces.Entered() {
		t.Skip("drivers of the examples mount")
	}
	programs := t.TempDir()
	out, err := exec.Command("make", "-C", "../../..", "build", "BIN="+programs).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, page := range documents(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			blocks := blocksOf(t, page)
			if len(blocks) == 0 {
				return
			}
			c := newCheckout(t)
			c.environment[0] = "PATH=" + programs + ":" + os.Getenv("PATH")
			c.follow(blocks)
		})
	}
}

// documents returns the pages with examples for readers: all except the specification and the
// records of measurements.
func documents(t *testing.T) (pages []string) {
	t.Helper()
	for _, purpose := range []string{"tutorials", "how-to", "reference", "explanation"} {
		found, err := fs.Glob(os.DirFS("../../.."), "docs/"+purpose+"/*.md")
		require.NoError(t, err)
		require.NotEmpty(t, found, purpose)
		pages = append(pages, found...)
	}
	return pages
}

// follow runs the blocks of a page like a reader, and returns the number of commands that it ran.
func (c *checkout) follow(blocks []block) (commands int) {
	c.t.Helper()
	for _, b := range blocks {
		program, needs := strings.CutPrefix(b.mark, "needs ")
		_, missing := exec.LookPath(program)
		status, exits := strings.CutPrefix(b.mark, "exits ")
		switch {
		case strings.HasPrefix(b.mark, "not run: ") || b.mark == fragment:
		case b.language == "diff":
			c.apply(b)
		case b.mark == output:
			c.compare(b)
		case b.language != "sh":
			c.keep(b)
		case needs && missing != nil:
			c.t.Logf("not run without %s:\n%s", program, b.text)
		case b.mark == runsOn:
			c.start(b)
		default:
			require.True(c.t, needs || exits || b.mark == "", "%q is not a mark of blocks", b.mark)
			want, _ := strconv.Atoi(status)
			c.run(b, want)
			commands++
		}
	}
	return commands
}
