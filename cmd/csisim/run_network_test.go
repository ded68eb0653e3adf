package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheNetworkOfDriverPrograms(t *testing.T) {
	for name, of := range map[string]struct {
		flags runFlags
		want  string
		err   string
	}{
		"the machine's, which storage may need":    {want: hostNetwork},
		"their own, as they are not trusted":       {flags: runFlags{rootless: true}, want: ownNetwork},
		"the machine's, although not trusted":      {flags: runFlags{rootless: true, network: "host"}, want: hostNetwork},
		"their own, as asked for":                  {flags: runFlags{network: "own"}, want: ownNetwork},
		"misspelt":                                 {flags: runFlags{network: "hots"}, err: `unknown network "hots"; did you mean "host"?`},
		"their own, without namespaces to have it": {flags: runFlags{network: "own", isolation: "none"}, err: "--network own needs namespaces: leave out --isolation none"},
	} {
		got, err := of.flags.driverNetwork()
		if of.err != "" {
			assert.ErrorContains(t, err, of.err, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, of.want, got, name)
	}
}
