package bearer_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/bearer"
	"github.com/csisim/csisim/internal/world/addons/identity"
)

type server struct {
	identity.UnimplementedIdentityServer
}

func (server) GetIdentity(context.Context, *identity.GetIdentityRequest) (*identity.GetIdentityResponse, error) {
	return &identity.GetIdentityResponse{Name: "disk.example.com"}, nil
}

// A-SRV-2, A-POOL-2: calls without a valid token fail, and so do TLS calls to a server without TLS.
func TestCallsNeedAValidTokenAndTLS(t *testing.T) {
	review := func(token string) (bool, error) {
		if token == "unreviewed" {
			return false, errors.New("the API is away")
		}
		return token == "good", nil
	}
	with := func(text string) func() (string, error) { return func() (string, error) { return text, nil } }
	for name, test := range map[string]struct {
		isGood func(string) (bool, error)
		token  func() (string, error)
		says   string
	}{
		"a good token":                    {review, with("good"), "OK"},
		"a bad token":                     {review, with("bad"), "Unauthenticated: invalid token"},
		"a token that cannot be reviewed": {review, with("unreviewed"), "Unknown: failed to review token the API is away"},
		"no authorization on":             {nil, nil, "OK"},
		"TLS to one without":              {nil, with("good"), `Unavailable: connection error: desc = "transport: authentication handshake failed: tls: first record does not look like a TLS handshake"`},
		// How the server closes the connection is a race.
		"plain text to one with TLS":  {review, nil, `Unavailable: connection error: desc = "error reading server preface: `},
		"a token that cannot be read": {review, func() (string, error) { return "", errors.New("open token: no such file") }, "Unknown: open token: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			at, stop, err := bearer.Serve(0, test.isGood, func(r grpc.ServiceRegistrar) { identity.RegisterIdentityServer(r, server{}) })
			require.NoError(t, err)
			defer stop()
			conn, err := bearer.Dial(new(net.Dialer).DialContext, at.String(), test.token)
			require.NoError(t, err)
			defer conn.Close()
			_, err = identity.NewIdentityClient(conn).GetIdentity(t.Context(), &identity.GetIdentityRequest{})
			says := status.Code(err).String()
			if err != nil {
				says += ": " + status.Convert(err).Message()
			}
			assert.True(t, strings.HasPrefix(says, test.says), says)
		})
	}
}

func TestTheServerClosesItsSocketAtTheEnd(t *testing.T) {
	at, stop, err := bearer.Serve(0, nil, func(grpc.ServiceRegistrar) {})
	require.NoError(t, err)
	stop()
	conn, err := bearer.Dial(new(net.Dialer).DialContext, at.String(), nil)
	require.NoError(t, err)
	defer conn.Close()
	_, err = identity.NewIdentityClient(conn).GetIdentity(t.Context(), &identity.GetIdentityRequest{})
	assert.Contains(t, status.Convert(err).Message(), "connect: connection refused")
}
