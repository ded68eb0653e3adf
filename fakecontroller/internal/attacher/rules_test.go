package attacher

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// C-ATT-5
func TestAttachmentsOfOtherAttachersAreLeftAlone(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.start()
	name := "v"
	testcluster.Create(c, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "va"},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "other.example.com", NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	})
	c.At(time.Hour)
	assert.Empty(t, c.calls("ControllerPublishVolume"))
	assert.Equal(t, storagev1.VolumeAttachmentStatus{}, c.attachment().Status)
	assert.Empty(t, c.attachment().Finalizers)
}

// C-ATT-11: the sidecar ignores an attachment that is already attached, or that is deleted and
// lacks the sidecar's finalizer.
func TestAttachmentsWithoutWork(t *testing.T) {
	attached := func(c *site) {
		_, err := store.ModifyStatus(c.Store, attachmentKey, func(va *storagev1.VolumeAttachment) { va.Status.Attached = true })
		require.NoError(c.T, err)
	}
	c := newSite(t, nil, mock.Options{})
	c.attach()
	attached(c)
	c.start()
	c.At(time.Hour)
	assert.Empty(t, c.calls("ControllerPublishVolume"))
	assert.Empty(t, c.attachment().Finalizers)

	_, err := store.Modify(c.Store, attachmentKey, func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{"somebody/else"} })
	require.NoError(t, err)
	c.detach()
	c.At(2 * time.Hour)
	assert.Empty(t, c.calls("ControllerUnpublishVolume"))
	assert.Equal(t, []string{"somebody/else"}, c.attachment().Finalizers)
}

// C-ATT-10: success forgets the failures.
func TestSuccessForgetsTheBackoff(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	fail := func(call string, times int) {
		c.wire.Faults.Inject(&fault.Fault{Call: call, Code: codes.Internal, Message: "no", Effect: fault.Answer, Times: times})
	}
	fail("ControllerPublishVolume", 4)
	c.start()
	c.attach()
	c.At(20 * time.Second)
	require.True(t, c.attachment().Status.Attached)
	fail("ControllerUnpublishVolume", 2)
	c.detach()
	c.At(30 * time.Second)
	assert.Equal(t, seconds(20, 21, 23), c.calls("ControllerUnpublishVolume"), "a second, then two: not where the attach left off")
}

// C-ATT-12, C-ATT-14
func TestTheRequestOfAnAttach(t *testing.T) {
	mount := func(fsType string, flags ...string) *csi.VolumeCapability_Mount {
		return &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: fsType, MountFlags: flags}}
	}
	mode := func(m csi.VolumeCapability_AccessMode_Mode) *csi.VolumeCapability_AccessMode {
		return &csi.VolumeCapability_AccessMode{Mode: m}
	}
	block := corev1.PersistentVolumeBlock
	for name, tt := range map[string]struct {
		driver mock.Options
		pv     func(*corev1.PersistentVolumeSpec)
		opts   func(*Options)
		want   func(*csi.ControllerPublishVolumeRequest)
	}{
		"as it comes": {},
		"mount options, attributes and two modes": {pv: func(s *corev1.PersistentVolumeSpec) {
			s.MountOptions, s.CSI.VolumeAttributes = []string{"noatime"}, map[string]string{"pool": "fast"}
			s.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
		}, want: func(r *csi.ControllerPublishVolumeRequest) {
			r.VolumeContext = map[string]string{"pool": "fast"}
			r.VolumeCapability.AccessType = mount("ext4", "noatime")
			r.VolumeCapability.AccessMode = mode(csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER)
		}},
		"raw block": {pv: func(s *corev1.PersistentVolumeSpec) { s.VolumeMode = &block }, want: func(r *csi.ControllerPublishVolumeRequest) {
			r.VolumeCapability.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
		}},
		"no file system": {pv: func(s *corev1.PersistentVolumeSpec) { s.CSI.FSType = "" }, want: func(r *csi.ControllerPublishVolumeRequest) {
			r.VolumeCapability.AccessType = mount("")
		}},
		"no file system, but a default": {
			pv: func(s *corev1.PersistentVolumeSpec) { s.CSI.FSType = "" }, opts: func(o *Options) { o.DefaultFSType = "xfs" },
			want: func(r *csi.ControllerPublishVolumeRequest) { r.VolumeCapability.AccessType = mount("xfs") },
		},
		"read only, which the driver does not know": {driver: mock.Options{PublishReadonly: new(false)}, pv: func(s *corev1.PersistentVolumeSpec) { s.CSI.ReadOnly = true }},
		"read only": {driver: mock.Options{PublishReadonly: new(true)}, pv: func(s *corev1.PersistentVolumeSpec) { s.CSI.ReadOnly = true },
			want: func(r *csi.ControllerPublishVolumeRequest) { r.Readonly = true }},
		"several writers on a node": {driver: mock.Options{SingleNodeMultiWriter: new(true)}, want: func(r *csi.ControllerPublishVolumeRequest) {
			r.VolumeCapability.AccessMode = mode(csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER)
		}},
		"a secret": {pv: func(s *corev1.PersistentVolumeSpec) {
			s.CSI.ControllerPublishSecretRef = &corev1.SecretReference{Namespace: "default", Name: "login"}
		}, want: func(r *csi.ControllerPublishVolumeRequest) { r.Secrets = map[string]string{"user": "admin"} }},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.driver.SingleNodeMultiWriter == nil {
				tt.driver.SingleNodeMultiWriter = new(false)
			}
			c := newSite(t, nil, tt.driver)
			testcluster.Create(c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "login"}, Data: map[string][]byte{"user": []byte("admin")}})
			old := c.volume()
			_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.KeyOf(old))
			require.NoError(t, err)
			_, err = store.Modify(c.Store, store.KeyOf(old), func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
			require.NoError(t, err)
			pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: *old.Spec.DeepCopy()}
			if tt.pv != nil {
				tt.pv(&pv.Spec)
			}
			testcluster.Create(c, pv)
			o := c.options()
			if tt.opts != nil {
				tt.opts(&o)
			}
			Start(c.World, c.wire, o)
			c.attach()
			c.At(time.Second)
			want := &csi.ControllerPublishVolumeRequest{VolumeId: "h-v", NodeId: "node-a", VolumeCapability: &csi.VolumeCapability{
				AccessType: mount("ext4"), AccessMode: mode(csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER),
			}}
			if tt.want != nil {
				tt.want(want)
			}
			var got []proto.Message
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.Call && e.Method == "Controller/ControllerPublishVolume" {
					got = append(got, e.Request)
				}
			}
			require.Len(t, got, 1)
			assert.True(t, proto.Equal(want, got[0]), "want %v, got %v", want, got[0])
		})
	}
}

// C-ATT-20: without its volume an attachment cannot be detached; the sidecar retries for ever.
func TestAnAttachmentOfADeletedVolumeStays(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.start()
	c.attach()
	c.At(time.Second)
	_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	require.NoError(t, err)
	_, err = store.Modify(c.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
	require.NoError(t, err)
	c.detach()
	c.At(time.Hour)
	assert.Empty(t, c.calls("ControllerUnpublishVolume"))
	assert.Equal(t, `persistentvolumes "v" not found`, c.attachment().Status.DetachError.Message)
	assert.Nil(t, c.attachment().Status.DetachError.ErrorCode)
}

// C-ATT-22, C-MIG-14: if the project of a volume is unknown, its handle is completed only for the
// search in the driver's list.
func TestHandlesOfMigratedVolumesAreCompletedForTheListOnly(t *testing.T) {
	const gce = "pd.csi.storage.gke.io"
	c := newSite(t, nil, mock.Options{})
	testcluster.Create(c, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-b"}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: gce, NodeID: "projects/p/zones/z/instances/node-b"}}}})
	testcluster.Create(c, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}},
	}})
	r := &run{Component: c.World.Start("csi-attacher", ""), features: features{driver: gce, finalizer: finalizerOf(gce)}}
	name := "disk"
	va := &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{Attacher: gce, NodeName: "node-b", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}}
	var published, listed string
	r.Go("test", func(p *kernel.Process) {
		from, err := r.sourceOf(va)
		assert.NoError(t, err)
		request, err := r.publishRequest(p, va, from)
		assert.NoError(t, err)
		published = request.GetVolumeId()
		listed, _, err = r.identity(p, va)
		assert.NoError(t, err)
	})
	c.At(time.Second)
	assert.Equal(t, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", published)
	assert.Equal(t, "projects/p/zones/z/disks/d", listed)
}

// C-ATT-30: a volume is kept as long as an attachment names it.
func TestAVolumeIsKeptUntilItsLastAttachmentIsDeleted(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.start()
	c.attach()
	c.At(time.Second)
	_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	require.NoError(t, err)
	c.At(time.Minute)
	require.Contains(t, c.volume().Finalizers, finalizer)
	c.detach()
	c.At(time.Minute + time.Second)
	assert.NotContains(t, c.volume().Finalizers, finalizer)
	assert.Len(t, c.calls("ControllerUnpublishVolume"), 1, "C-ATT-12: only a new attach needs a volume that is not deleted")
}

// C-ATT-30, C-ATT-31: the sidecar's patches of a volume's finalizers test for the list that the
// sidecar last read.
func TestPatchesOfFinalizersTestTheList(t *testing.T) {
	const own = finalizer
	for name, tt := range map[string]struct {
		known, now []string
		add        bool
		want       []string
		refused    bool
	}{
		"added to none":                 {nil, nil, true, []string{own}, false},
		"added to others":               {[]string{"x/a"}, []string{"x/a", "x/b"}, true, []string{"x/a", "x/b", own}, false},
		"none known, others came":       {nil, []string{"x/a"}, true, []string{"x/a"}, true},
		"others known, all went":        {[]string{"x/a"}, nil, true, nil, true},
		"removed":                       {[]string{"x/a", own, "x/b"}, []string{"x/a", own}, false, []string{"x/a"}, false},
		"removed, it has moved":         {[]string{"x/a", own}, []string{own}, false, []string{own}, true},
		"removed, another in its place": {[]string{"x/a", own, "x/b"}, []string{"x/a", "x/b"}, false, []string{"x/a", "x/b"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSite(t, nil, mock.Options{})
			r := &run{Component: c.World.Start("csi-attacher", ""), features: features{driver: driverName, finalizer: finalizerOf(driverName), attach: true}}
			set := func(finalizers []string) {
				_, err := store.Modify(c.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) { pv.Finalizers = finalizers })
				require.NoError(t, err)
			}
			set(tt.known)
			if !tt.add {
				_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
				require.NoError(t, err)
			}
			store.Watch[*corev1.PersistentVolume](r.Cache)
			r.Cache.SetLag(func() {})
			set(tt.now)
			known, _ := store.Get[*corev1.PersistentVolume](r.Cache, store.Key{Name: "v"})
			var err error
			r.Go("test", func(p *kernel.Process) {
				if tt.add {
					err = r.guardVolume(p, known)
				} else {
					err = r.syncVolume(p, store.KeyOf(known))
				}
			})
			c.At(time.Second)
			assert.Equal(t, tt.want, c.volume().Finalizers)
			if tt.refused {
				assert.ErrorContains(t, err, "the server rejected our request due to an error in our request")
			} else {
				assert.NoError(t, err)
			}
		})
	}
}
