package provisioner

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/store"
)

// C-PROV-42: external-provisioner pkg/controller/util.go: IsGranted.
func TestTheScopeOfAGrant(t *testing.T) {
	from := []grantFrom{{Kind: claimKind, Namespace: "default"}}
	const group = "snapshot.storage.k8s.io"
	source := dataSource{group, snapshotKind, store.Key{Namespace: "prod", Name: "daily"}}
	for name, tt := range map[string]struct {
		from []grantFrom
		to   []grantTo
		want bool
	}{
		"all snapshots":        {from, []grantTo{{Group: group, Kind: snapshotKind}}, true},
		"this snapshot":        {from, []grantTo{{Kind: claimKind}, {group, snapshotKind, "daily"}}, true},
		"another snapshot":     {from, []grantTo{{group, snapshotKind, "weekly"}}, false},
		"another group":        {from, []grantTo{{Kind: snapshotKind}}, false},
		"nothing":              {from, nil, false},
		"to another namespace": {[]grantFrom{{Kind: claimKind, Namespace: "test"}}, []grantTo{{Group: group, Kind: snapshotKind}}, false},
		"to another kind":      {[]grantFrom{{Kind: "Pod", Namespace: "default"}}, []grantTo{{Group: group, Kind: snapshotKind}}, false},
	} {
		var grant referenceGrant
		grant.Spec.From, grant.Spec.To = tt.from, tt.to
		assert.Equal(t, tt.want, grant.allows("default", source), name)
	}
}
