package objectname

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainNamesNeedNoRegularExpression(t *testing.T) {
	for name, want := range map[string]bool{
		"pvc-1": true, "d.example.com": true, "a": true,
		"": false, "A": false, "-a": false, "a-": false, "a..b": false, "a.": false, "a_b": false,
	} {
		require.Equal(t, want, plain(name, 63, '.'), name)
	}
	require.False(t, plain("a.b", 63, '-'), "a label has no dots")
	require.Nil(t, Subdomain("a--b", false), "what is not plain may be right")
	require.NotNil(t, Label("a.b"))
}
