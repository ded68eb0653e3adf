package plural_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/plural"
)

func TestOneIsSingular(t *testing.T) {
	for n, want := range []string{"0 calls", "1 call", "2 calls"} {
		assert.Equal(t, want, plural.Of(n, "call"))
	}
}
