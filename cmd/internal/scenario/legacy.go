package scenario

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/version"
)

// Legacy sets how a cluster before v1.17 differs from the default.
type Legacy struct {
	CreateOnStartup  bool   `json:"createOnStartup,omitempty" doc:"Kubelets create their CSINodeInfo or CSINode when they start, instead of when the first driver registers; default false."`
	AnnounceMigrated bool   `json:"announceMigratedOnStartup,omitempty" doc:"At their start kubelets list the drivers of migrated plugins as not available; default false."`
	Backoff          string `json:"backoff,omitempty" enum:"operation|none" doc:"The repetition of attach and detach while the object is missing: operation, with growing pauses; none, every 100 ms. Default operation."`
	AttachRequired   *bool  `json:"attachRequired,omitempty" doc:"The value of attachRequired for a CSIDriver without it; default true."`
	CRDInstalled     *bool  `json:"crdInstalled,omitempty" doc:"Whether the kinds of csi.storage.k8s.io exist; without them no driver can register. Default true."`
}

func (l *Legacy) options() legacy.Options {
	if l == nil {
		return legacy.Options{}
	}
	return legacy.Options{
		CreateOnStartup: l.CreateOnStartup, AnnounceMigrated: l.AnnounceMigrated, NoBackoff: l.Backoff == "none",
		AttachOptional: l.AttachRequired != nil && !*l.AttachRequired, NoCRD: l.CRDInstalled != nil && !*l.CRDInstalled,
	}
}

// checkLegacy reports options of old clusters in a newer one.
func (c *checker) checkLegacy() {
	if c.scenario.Cluster.Legacy != nil && c.versions.began.Has(version.CSINodeAtStartup) {
		c.report("legacy", "options of an old cluster, of Kubernetes "+c.versions.began.String(),
			fmt.Sprintf("them only with kubernetes: %q or older", version.CSINodeAtStartup.Before()))
	}
}

// checkKindOfVersion reports objects of kinds that the cluster does not serve.
func (c *checker) checkKindOfVersion(o manifest.Object) {
	gvk, began := o.GetObjectKind().GroupVersionKind(), c.versions.began
	found := fmt.Sprintf("%s of %s", gvk.Kind, gvk.GroupVersion())
	switch o.Object.(type) {
	case *legacy.CSIDriver, *legacy.CSINodeInfo:
		if began.Has(version.CSINode) {
			c.wrong(o, "apiVersion", found, fmt.Sprintf("a kind that Kubernetes %s serves; this one only with kubernetes: %q", began, version.CSINode.Before()), nil)
		}
	case *storagev1.CSIDriver, *storagev1.CSINode:
		if !began.Has(version.CSINode) && !c.upgradesControlPlane() {
			c.wrong(o, "apiVersion", found, fmt.Sprintf("%s, for Kubernetes %s", legacy.GroupVersion, began), nil)
		}
	}
}
