package store

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Stores with different names generate different uids, and stores with the same name the same uids.
func TestUIDsDifferByTheNamesOfStores(t *testing.T) {
	first := func(names string) string { return string(countedUIDs(names, 0)("pods")) }
	assert.Equal(t, first("a"), first("a"))
	assert.NotEqual(t, first("a"), first("b"))
	assert.NotEqual(t, first(""), first("a"))
	assert.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$", first("a"))
	assert.Equal(t, "0000-4000-8000", first("")[9:23])
}
