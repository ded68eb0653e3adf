package fakekubelet_test

import (
	"slices"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// beforeAndSince runs a test with the last kubelet version before a change and the first one with
// the change.
func beforeAndSince(t *testing.T, change version.Change, test func(t *testing.T, v version.Version, since bool)) {
	for _, v := range []version.Version{change.Before(), change.Before() + 1} {
		t.Run(v.String(), func(t *testing.T) { test(t, v, v.Has(change)) })
	}
}

// K-PATH-3, kubernetes/kubernetes#107065
func TestWhereAKubeletStages(t *testing.T) {
	beforeAndSince(t, version.StagingByHandle, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v})
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.waitRunning("web")
		want := machine.KubeletDir + "/plugins/kubernetes.io/csi/pv/pv-data/globalmount"
		if since {
			want = csi.DefaultDir.StagingPath(driverName, "h-data")
		}
		assert.Equal(t, want, request[*csispec.NodeStageVolumeRequest](n).StagingTargetPath)
		assert.Equal(t, want, request[*csispec.NodePublishVolumeRequest](n).StagingTargetPath)
		n.deletePod("web")
		n.settle()
		assert.Equal(t, want, request[*csispec.NodeUnstageVolumeRequest](n).StagingTargetPath)
		assert.NotContains(t, n.files(), want+"/")
	})
}

// K-STAGE-7, kubernetes/kubernetes#82492
func TestWhetherAStageWithoutAnAnswerIsUndone(t *testing.T) {
	beforeAndSince(t, version.UncertainMounts, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v})
		n.volume("data")
		n.attached("data")
		n.fail("NodeStageVolume", codes.Aborted, 0)
		n.pod("web", using("data"))
		n.thirdRetry()
		n.forget()
		n.deletePod("web")
		n.settle()
		assert.Equal(t, since, slices.Contains(n.calls(), "NodeUnstageVolume OK"))
	})
}

// K-FSG-1
func TestACapableDriverAppliesTheFSGroup(t *testing.T) {
	beforeAndSince(t, version.MountGroup, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, driver: mock.Options{VolumeMountGroup: true}, csiDriver: groupPolicy("File")})
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"), fsGroup(4242))
		n.waitRunning("web")
		passed, dir := "", "4242 dgrwxrwxr-x"
		if since {
			passed, dir = "4242", "0 drwxr-xr-x"
		}
		assert.Equal(t, passed, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().GetVolumeMountGroup())
		assert.Equal(t, dir, n.group(n.targetOf("web")))
	})
}

// K-FSG-1
func TestWhetherTheFSGroupPolicyCounts(t *testing.T) {
	beforeAndSince(t, version.FSGroupPolicy, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, csiDriver: groupPolicy("None")})
		n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.FSType = "ext4" })
		n.attached("data")
		n.pod("web", using("data"), fsGroup(4242))
		n.waitRunning("web")
		want := "4242 dgrwxrwxr-x"
		if since {
			want = "0 drwxr-xr-x"
		}
		assert.Equal(t, want, n.group(n.targetOf("web")))
	})
}

// K-RPC-6
func TestWhetherOneWriterIsDistinguishedFromSeveral(t *testing.T) {
	beforeAndSince(t, version.SingleNodeWriters, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v})
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.waitRunning("web")
		want := csispec.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
		if since {
			want = csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
		}
		assert.Equal(t, want, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.AccessMode.Mode)
	})
}

// K-EXP-8
func TestWhetherAnExpansionHasSecrets(t *testing.T) {
	beforeAndSince(t, version.NodeExpandSecret, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, driver: expands})
		create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "expand", Namespace: "kube-system"}, Data: map[string][]byte{"key": []byte("k")}})
		n.volume("data", func(pv *corev1.PersistentVolume) {
			pv.Spec.CSI.NodeExpandSecretRef = &corev1.SecretReference{Namespace: "kube-system", Name: "expand"}
		})
		n.attached("data")
		n.pod("web", using("data"))
		n.run("web")
		n.pass(time.Second)
		n.resized("data", "2Gi", "2Gi", pending)
		n.settle()
		var want map[string]string
		if since {
			want = map[string]string{"key": "k"}
		}
		assert.Equal(t, want, request[*csispec.NodeExpandVolumeRequest](n).Secrets)
	})
}

// K-PUB-5, K-PUB-16
func TestWhetherAnOldKubeletSupportsTokensAndRepublishing(t *testing.T) {
	beforeAndSince(t, version.ServiceAccountTokens, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, csiDriver: func(s *storagev1.CSIDriverSpec) {
			s.TokenRequests, s.RequiresRepublish = []storagev1.TokenRequest{{Audience: "vault"}}, new(true)
		}})
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.run("web")
		n.pass(10 * time.Minute)
		assert.Equal(t, since, len(n.calls()) > 0, "NodePublishVolume is repeated")
	})
}

// K-PUB-5
func TestWhetherTokensCanBeSecrets(t *testing.T) {
	beforeAndSince(t, version.TokensInSecrets, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, csiDriver: func(s *storagev1.CSIDriverSpec) {
			s.TokenRequests, s.ServiceAccountTokenInSecrets = []storagev1.TokenRequest{{Audience: "vault"}}, new(true)
		}})
		n.volume("data")
		n.attached("data")
		n.pod("web", using("data"))
		n.waitRunning("web")
		const key = "csi.storage.k8s.io/serviceAccount.tokens"
		published := request[*csispec.NodePublishVolumeRequest](n)
		assert.Equal(t, since, published.Secrets[key] != "")
		assert.Equal(t, !since, published.VolumeContext[key] != "")
	})
}

// K-CFG-1
func TestWhetherVolumesAreMountedWithALabel(t *testing.T) {
	beforeAndSince(t, version.SELinuxMount, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, seLinux: true, csiDriver: func(s *storagev1.CSIDriverSpec) { s.SELinuxMount = new(true) }})
		n.volume("data", accessMode(corev1.ReadWriteOncePod))
		n.attached("data")
		n.pod("web", using("data"), func(spec *corev1.PodSpec) {
			spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c1,c2"}}
		})
		n.waitRunning("web")
		assert.Equal(t, since, len(request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().GetMountFlags()) > 0)
	})
}

// K-ALLOC-1
func TestWhetherTheAttachLimitIsRequestedAgain(t *testing.T) {
	beforeAndSince(t, version.MutableAllocatable, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v, csiDriver: func(s *storagev1.CSIDriverSpec) { s.NodeAllocatableUpdatePeriodSeconds = new(int64(10)) }})
		n.forget()
		n.pass(time.Minute)
		assert.Equal(t, since, len(n.times("NodeGetInfo")) > 0)
	})
}

func TestTheNodeShowsTheKubeletsVersionAlsoAfterAnUpgrade(t *testing.T) {
	n := start(t, setting{version: 35})
	got := func() string {
		node, _ := store.Get[*corev1.Node](n.Store, store.Key{Name: nodeName})
		return node.Status.NodeInfo.KubeletVersion
	}
	assert.Equal(t, "v1.35.0", got())
	n.killKubelet()
	n.setting.version = version.Newest
	n.startKubelet()
	n.settle()
	assert.Equal(t, "v1.36.3", got())
}

// K-ADM-2, kubernetes/kubernetes#101218
func TestWhetherTheKubeletLooksAtTaints(t *testing.T) {
	beforeAndSince(t, version.TaintAdmission, func(t *testing.T, v version.Version, since bool) {
		n := start(t, setting{version: v})
		n.change(tainted(corev1.TaintEffectNoExecute))
		n.pass(time.Second)
		n.pod("web")
		n.settle()
		assert.Equal(t, since, n.phase("web") == corev1.PodFailed)
	})
}
