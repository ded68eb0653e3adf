package wire

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/machine"
)

func TestACallOnAClosedConnectionDialsAgain(t *testing.T) {
	m, err := machine.NewDisk("node-a", t.TempDir())
	require.NoError(t, err)
	defer m.Close()
	const socket = "/csi/csi.sock"
	server := mock.New(mock.Options{Name: "a.example.com"}).Controller()
	_, err = m.BindSocket(socket, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: server})
	require.NoError(t, err)
	client, closer, err := m.DialSocket(socket)
	require.NoError(t, err)
	require.NoError(t, closer.Close())

	_, err = csi.NewIdentityClient(client).GetPluginInfo(t.Context(), &csi.GetPluginInfoRequest{})
	require.True(t, isClosing(err), "%v", err)
	info, err := csi.NewIdentityClient(redialled{client, Site{Machine: m, Socket: socket}}).GetPluginInfo(t.Context(), &csi.GetPluginInfoRequest{})
	require.NoError(t, err)
	assert.Equal(t, "a.example.com", info.GetName())
	assert.False(t, isClosing(status.Error(codes.Canceled, "the driver's own words")))
}
