package volumemanager

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/seeded"
)

// deviceKey returns the key of operations on a whole volume. It excludes all other operations on
// the volume. K-OP-1
func deviceKey(volume string) operation.Key { return operation.Key{Volume: volume} }

// mountKey: no two pods mount one persistent volume at a time. K-OP-1
func mountKey(volume string, by *wantedBy) operation.Key {
	if by.spec.Inline != nil || seeded.IsMade(seeded.MountedWhileUnstaged) {
		return operation.Key{Volume: volume, Pod: string(by.pod.UID)}
	}
	return deviceKey(volume)
}

// unmountKey: pods may be unmounted side by side. K-OP-2
func unmountKey(volume string, pod types.UID) operation.Key {
	return operation.Key{Volume: volume, Pod: string(pod)}
}
