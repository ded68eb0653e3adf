package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/standintest"
	"github.com/csisim/csisim/internal/driver/standin/web"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
)

func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(m.Run())
}

// cloud is a small cloud: servers are the nodes, volumes are attached by actions, and snapshots
// are made below their volume.
var cloud = web.Options{
	Errors: "{'error': {'code': status == 404 ? 'not_found' : 'failed', 'message': text}}",
	Collections: []web.Collection{
		{Path: "/servers", Numbered: true, Item: "server", Items: "servers", Nodes: "{'id': node.number, 'name': node.name}"},
		{
			Path: "/volumes", Numbered: true, Item: "volume", Unique: []string{"name"},
			Create: "{'server': null}", Created: "{'volume': object, 'action': 'create'}",
			Listed: "{'volumes': objects.map(o, o.name), 'total': objects.size()}",
		},
		{Path: "/snapshots", Item: "snapshot"},
	},
	Routes: []web.Route{
		{Path: "/metadata/id", Answer: "string(node.number)"},
		{Method: "DELETE", Path: "/volumes/*", Of: "/volumes", When: "object.server != null", Status: 423},
		{
			Method: "POST", Path: "/volumes/*/actions/attach", Of: "/volumes", When: "object.server != null", Status: 422,
			Answer: "{'attached': object.server}",
		},
		{
			Method: "POST", Path: "/volumes/*/actions/attach", Of: "/volumes", When: "body.server > 0", Set: "{'server': body.server}",
			Answer: "{'action': 'attach', 'to': object.server}",
		},
		{Method: "POST", Path: "/volumes/*/actions/detach", Of: "/volumes", Set: "{'server': null}"},
		{
			Method: "POST", Path: "/volumes/*/snapshots", Of: "/volumes", Into: "/snapshots",
			New: "{'of': object.id}", Status: 201, Answer: "{'snapshot': made, 'count': collections['/snapshots'].size()}",
		},
		{Path: "/broken", Answer: "{'x': object.y}"},
	},
}

func TestACloudIsDeclaredWithActionsAndAnswers(t *testing.T) {
	s := started(t, cloud)
	for _, c := range []struct{ request, want string }{
		{"GET /metadata/id", "200 1"},
		{"GET /servers?name=node-b", `200 {"servers":[{"id":2,"name":"node-b"}]}`},
		{"GET /servers/2", `200 {"server":{"id":2,"name":"node-b"}}`},
		{`POST /volumes {"name":"a","size":1}`, `201 {"action":"create","volume":{"id":1,"name":"a","server":null,"size":1}}`},
		{`POST /volumes {"name":"a"}`, `409 {"error":{"code":"failed","message":"name a exists"}}`},
		{"GET /volumes", `200 {"total":1,"volumes":["a"]}`},
		{"GET /volumes/2", `404 {"error":{"code":"not_found","message":"2 not found"}}`},
		{"POST /volumes/1/actions/attach", `404 {"error":{"code":"not_found","message":"POST /volumes/1/actions/attach is neither declared nor recorded"}}`},
		{"POST /volumes/2/actions/detach", `404 {"error":{"code":"not_found","message":"2 not found"}}`},
		{`POST /volumes/1/actions/attach {"server":2}`, `200 {"action":"attach","to":2}`},
		{`POST /volumes/1/actions/attach {"server":1}`, `422 {"attached":2}`},
		{"DELETE /volumes/1", `423 {"error":{"code":"failed","message":"DELETE /volumes/*: Locked"}}`},
		{"POST /volumes/1/snapshots {}", `201 {"count":1,"snapshot":{"id":"snapshot-1","of":1}}`},
		{"GET /snapshots/snapshot-1", `200 {"snapshot":{"id":"snapshot-1","of":1}}`},
		{"POST /volumes/1/actions/detach", "200"},
		{"DELETE /volumes/1", "204"},
		{"GET /broken", `500 {"error":{"code":"failed","message":"expression \"{'x': object.y}\": no such key: y"}}`},
	} {
		assert.Equal(t, c.want, ask(t, s, c.request), c.request)
	}
}

func TestMistakesInADeclarationAreReported(t *testing.T) {
	volumes := []web.Collection{{Path: "/volumes"}}
	for _, c := range []struct {
		o    web.Options
		want string
	}{
		{web.Options{Collections: volumes, Errors: "{"}, "errors: expression \"{\": Syntax error: "},
		{web.Options{Collections: []web.Collection{{Path: "/volumes", Create: "bodi.x"}}}, `create of path "/volumes": expression "bodi.x": undeclared reference to 'bodi'`},
		{web.Options{Collections: []web.Collection{{Path: "/volumes", Disk: &web.Disk{Size: "1", Nodes: "[]"}}}}, `the disk of collection "/volumes" needs both nodes and path, or none of them`},
		{web.Options{Routes: []web.Route{{Path: "/a/*", Of: "/volumes"}}}, `path "/a/*" is of collection "/volumes", which is not declared`},
		{web.Options{Collections: volumes, Routes: []web.Route{{Path: "/a", Of: "/volumes"}}}, `path "/a" is of a collection, and has no * for the id`},
		{web.Options{Collections: volumes, Routes: []web.Route{{Path: "/a", Set: "{}"}}}, `path "/a" sets fields, and is of no collection`},
		{web.Options{Collections: volumes, Routes: []web.Route{{Path: "/a", Into: "/volumes"}}}, `path "/a" needs both into and new, or none of them`},
		{web.Options{Collections: volumes, Routes: []web.Route{{Path: "/a", Into: "/b", New: "{}"}}}, `path "/a" puts objects into collection "/b", which is not declared`},
		{web.Options{Collections: volumes, Routes: []web.Route{{Path: "/a", Body: "x", Answer: "1"}}}, `path "/a" has both body and answer`},
	} {
		assert.ErrorContains(t, c.o.Check(), c.want)
	}
}

// Given a collection with disks, when a volume names a node, then only that node sees the volume's
// disk, also after the disk has grown. A snapshot has the content that was synced.
func TestADiskIsADeviceOfItsNodes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("devices need root")
	}
	o := web.Options{
		Collections: []web.Collection{
			{Path: "/volumes", Numbered: true, Disk: &web.Disk{
				Size: "object.mib * 1048576", Nodes: "object.nodes", Path: "'/dev/disk/by-id/volume-' + string(object.id)",
				From: "has(object.from) ? '/snapshots/' + object.from : ''",
			}},
			{Path: "/snapshots", Disk: &web.Disk{Size: "1048576", From: "'/volumes/' + string(object.of)"}},
		},
	}
	require.NoError(t, o.Check())
	s := web.New(o)
	require.NoError(t, s.Start(t.TempDir()))
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	a, b := booted(t, s, "node-a"), booted(t, s, "node-b")
	const device = "/dev/disk/by-id/volume-1"

	require.Equal(t, `201 {"id":1,"mib":1,"nodes":[]}`, ask(t, s, `POST /volumes {"mib":1,"nodes":[]}`))
	assert.NotEmpty(t, run(t, a, "stat", device))
	ask(t, s, `PATCH /volumes/1 {"nodes":["node-a"]}`)
	assert.Equal(t, "1048576", run(t, a, "blockdev", "--getsize64", device))
	assert.Contains(t, run(t, b, "stat", device), "No such file")
	assert.Empty(t, run(t, a, "sh", "-c", "printf hello > "+device+" && sync"))
	require.Contains(t, ask(t, s, `POST /snapshots {"of":1}`), "201")
	ask(t, s, `PATCH /volumes/1 {"mib":2,"nodes":[2]}`)
	assert.Contains(t, run(t, a, "stat", device), "No such file")
	assert.Equal(t, "2097152", run(t, b, "blockdev", "--getsize64", device))
	ask(t, s, `POST /volumes {"mib":1,"nodes":[1],"from":"snapshot-1"}`)
	assert.Equal(t, "hello", run(t, a, "head", "-c", "5", "/dev/disk/by-id/volume-2"))
	assert.Equal(t, "204", ask(t, s, "DELETE /volumes/1"))
	assert.Contains(t, run(t, b, "stat", device), "No such file")
	assert.Contains(t, ask(t, s, `POST /volumes {"mib":1,"nodes":[],"from":"none"}`), `500 {"error":"disk of 3: no disk at /snapshots/none"}`)
}

func booted(t *testing.T, s *web.Service, name string) machine.Machine {
	t.Helper()
	m, err := machine.NewNamespace(name, filepath.Join(t.TempDir(), name), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	require.NoError(t, s.Furnish(standin.Node{Name: name, Machine: m}))
	return m
}

// run runs a program on a node, and returns its output.
func run(t *testing.T, node machine.Machine, name string, args ...string) string {
	t.Helper()
	_, output := standintest.Run(t, node, name, args...)
	return output
}
