package csi

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// NewBlockMapper writes the volume data file of a raw block volume. Each pass that tries to map the
// volume writes it again. K-OP-9, K-BLK-1
func (pl *Plugin) NewBlockMapper(p *kernel.Process, spec *Spec) error {
	f, dir := pl.files(p), pl.blockDataDir(spec.Name)
	if err := f.mkdir(dir); err != nil {
		return fmt.Errorf("failed to create data dir %s: %w", dir, err)
	}
	return f.writeData(dir, pl.podData(spec, spec.Handle("")))
}

// SetUpDevice stages a raw block volume, and returns the staging path if the driver stages. K-BLK-2
func (pl *Plugin) SetUpDevice(p *kernel.Process, spec *Spec) (staging string, err error) {
	publishContext, err := pl.publishContext(p, spec)
	if err != nil {
		return "", TransientError{err}
	}
	s, err := pl.beginUnaware(p, spec.Driver())
	if err != nil {
		return "", TransientError{fmt.Errorf("kubernetes.io/csi: blockMapper.SetUpDevice failed to get CSI client: %w", err)}
	}
	stages, err := s.has(capStage)
	if err != nil { // wrapped, and therefore final. K-BLK-4
		err = fmt.Errorf("kubernetes.io/csi: blockMapper.stageVolumeForBlock failed to check STAGE_UNSTAGE_VOLUME capability: %w", err)
	} else if stages {
		staging = pl.BlockStagingPath(spec.Name)
		err = s.stageBlock(spec, publishContext)
	}
	if IsFinal(err) {
		pl.removeBlockFiles(p, spec.Name)
	}
	return staging, err
}

func (s *step) stageBlock(spec *Spec, publishContext map[string]string) error {
	secrets, err := s.secrets("NodeStageSecretRef", spec.PV.Spec.CSI.NodeStageSecretRef)
	if err != nil {
		return TransientError{err}
	}
	staging := s.BlockStagingPath(spec.Name)
	if err := s.files(s.process).mkdir(staging); err != nil {
		return fmt.Errorf("blockMapper.stageVolumeForBlock failed to create dir %s: %w", staging, err)
	}
	return s.stage(spec, &csispec.NodeStageVolumeRequest{
		VolumeId: spec.Handle(""), PublishContext: publishContext, StagingTargetPath: staging,
		Secrets: secrets, VolumeContext: spec.attributes(),
	}, mountWith{})
}

// MapPodDevice publishes a raw block volume for a pod. The staging path is sent
// even if the driver does not stage. K-BLK-3
func (pl *Plugin) MapPodDevice(p *kernel.Process, spec *Spec, pod *corev1.Pod) error {
	publishContext, err := pl.publishContext(p, spec)
	if err != nil {
		return TransientError{err}
	}
	s, err := pl.begin(p, spec)
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: blockMapper.MapPodDevice failed to get CSI client: %w", err)}
	}
	secrets, err := s.secrets("NodePublishSecretRef", publishSecretRef(spec, pod))
	if err != nil {
		return TransientError{err}
	}
	target := pl.BlockPublishPath(pod.UID, spec.Name)
	if err := pl.files(p).mkdir(path.Dir(target)); err != nil {
		return fmt.Errorf("blockMapper.publishVolumeForBlock failed to create dir %s: %w", path.Dir(target), err)
	}
	return s.publish(spec, &csispec.NodePublishVolumeRequest{
		VolumeId: spec.Handle(pod.UID), PublishContext: publishContext, StagingTargetPath: pl.BlockStagingPath(spec.Name),
		TargetPath: target, Readonly: spec.ReadOnly, Secrets: secrets, VolumeContext: s.volumeContext(spec, pod),
	}, mountWith{})
}

// PublishedDevice returns the device that the driver has published, after resolving a link. K-BLK-7
func (pl *Plugin) PublishedDevice(spec *Spec, pod *corev1.Pod) (string, error) {
	return pl.machine.EvalSymlinks(pl.BlockPublishPath(pod.UID, spec.Name))
}

// MapBlockVolume gives the pod access to the published device: a bind mount in the volume's own
// directory, and a symbolic link in the pod's directory. Then it keeps the device open, so that no
// other device gets its name. K-BLK-6
func (pl *Plugin) MapBlockVolume(p *kernel.Process, spec *Spec, pod *corev1.Pod, device string) error {
	f := pl.files(p)
	mapDir, link := pl.BlockMapDir(spec.Name), pl.PodDevicePath(pod.UID, spec.Name)
	mapped := path.Join(mapDir, string(pod.UID))
	if err := f.mapTo(device, mapped); err != nil {
		return fmt.Errorf("blkUtil.MapDevice failed. devicePath: %s, globalMapPath:%s, podUID: %s, bindMount: true: %w", device, mapDir, pod.UID, err)
	}
	if err := f.link(device, link); err != nil {
		return fmt.Errorf("blkUtil.MapDevice failed. devicePath: %s, podVolumeMapPath:%s, volumeMapName: %s, bindMount: false: %w", device, path.Dir(link), path.Base(link), err)
	}
	if err := f.keepOpen(mapped); err != nil {
		return fmt.Errorf("blkUtil.AttachFileDevice failed. globalMapPath:%s, podUID: %s: %w", mapDir, pod.UID, err)
	}
	return nil
}

// link creates or replaces a symbolic link.
func (f files) link(device, name string) error {
	if err := f.mkdir(path.Dir(name)); err != nil {
		return err
	}
	if err := f.remove(name); err != nil {
		return err
	}
	return f.change("symlink", name, func(m machine.Machine) error { return m.Symlink(device, name) })
}

// keepOpen attaches a loop device to a mapped device. Its only purpose is to keep the mapped device
// open. K-BLK-6
func (f files) keepOpen(mapped string) error {
	devices, ok := f.machine.(machine.Devices)
	if !ok {
		return nil
	}
	return f.change("loop device on", mapped, func(machine.Machine) error { return devices.KeepOpen(mapped) })
}

// letGo detaches the loop device of keepOpen. A missing loop device is no error. K-BLK-9
func (f files) letGo(mapped string) error {
	devices, ok := f.machine.(machine.Devices)
	if _, err := f.machine.Lstat(mapped); !ok || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.change("remove loop device of", mapped, func(machine.Machine) error { return devices.LetGo(mapped) })
}

// DeviceOpened reports whether a process has the device of a volume open exclusively. It returns
// false for other files, and for a missing device. K-UNSTAGE-4
func (pl *Plugin) DeviceOpened(device string) (bool, error) {
	devices, ok := pl.machine.(machine.Devices)
	if !ok || device == "" {
		return false, nil
	}
	return devices.IsHeld(device)
}

// mapTo bind-mounts a device in the directory of the kubelet's own bind mounts of its volume.
func (f files) mapTo(device, mapped string) error {
	if err := f.mkdir(path.Dir(mapped)); err != nil {
		return err
	}
	return f.bind(device, mapped)
}

// bind bind-mounts a device on a regular file, unless it is already mounted there.
func (f files) bind(device, target string) error {
	mounted, err := f.machine.IsMountPoint(target)
	if err == nil && mounted {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.write(target, nil); err != nil {
			return err
		}
	}
	return f.change("bind mount", target, func(m machine.Machine) error { return m.BindMount(device, target, false) })
}

// BlockMapping holds the map directory and the pod's link for success events. K-BLK-8
func (d Dir) BlockMapping(spec *Spec, pod *corev1.Pod) (mapDir, podDir string) {
	return d.BlockMapDir(spec.Name), path.Dir(d.PodDevicePath(pod.UID, spec.Name))
}
