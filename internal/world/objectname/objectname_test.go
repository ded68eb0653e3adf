package objectname

import (
	"testing"

	"github.com/stretchr/testify/require"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

func TestPlainNamesNeedNoRegularExpression(t *testing.T) {
	for name, want := range map[string]bool{
		"pvc-1": true, "d.example.com": true, "a": true,
		"": false, "A": false, "-a": false, "a-": false, "a..b": false, "a.": false, "a_b": false,
	} {
		require.Equal(t, want, plain(name, 63, '.'), name)
	}
	for name, want := range map[string]bool{
		"Ready": true, "example.com/a": true, "a_b.c": true, "foregroundDeletion": true,
		"": false, "a/": false, "/a": false, "-a": false, "a-": false, "A/b/c": false, "a b": false, "Example.com/a": false,
	} {
		require.Equal(t, want, len(Qualified(name)) == 0, name)
		require.Equal(t, want, len(utilvalidation.IsQualifiedName(name)) == 0, name)
	}
	for value, want := range map[string]bool{"": true, "node-a": true, "v1.2_3": true, "a--b": true, "-a": false, "a/b": false, "a b": false} {
		require.Equal(t, want, len(LabelValue(value)) == 0, value)
		require.Equal(t, want, len(utilvalidation.IsValidLabelValue(value)) == 0, value)
	}
	require.Empty(t, Qualified("a--b"), "a name that is not plain may be valid")
	require.False(t, plain("a.b", 63, '-'), "a label has no dots")
	require.Nil(t, Subdomain("a--b", false), "a name that is not plain may be valid")
	require.NotNil(t, Label("a.b"))
}
