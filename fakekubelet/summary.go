package fakekubelet

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/csisim/csisim/internal/world/volume"
)

// summary returns the kubelet's summary API: the node, its pods, and the usage of their volumes at
// the last measurement. Processors, memory and networks are not measured. K-STAT-5
func (k *Kubelet) summary() *statsv1alpha1.Summary {
	s := &statsv1alpha1.Summary{Node: statsv1alpha1.NodeStats{NodeName: k.options.Name, StartTime: metav1.NewTime(k.started)}, Pods: []statsv1alpha1.PodStats{}}
	for _, uid := range slices.Sorted(maps.Keys(k.pods.known)) {
		pod := k.pods.known[uid]
		stats := statsv1alpha1.PodStats{PodRef: statsv1alpha1.PodReference{Name: pod.Name, Namespace: pod.Namespace, UID: string(uid)}}
		if pod.Status.StartTime != nil {
			stats.StartTime = *pod.Status.StartTime
		}
		for i := range pod.Spec.Volumes {
			if v, measured := k.volumeSummary(pod, &pod.Spec.Volumes[i]); measured {
				stats.VolumeStats = append(stats.VolumeStats, v)
			}
		}
		s.Pods = append(s.Pods, stats)
	}
	return s
}

func (k *Kubelet) volumeSummary(pod *corev1.Pod, v *corev1.Volume) (s statsv1alpha1.VolumeStats, measured bool) {
	if k.stats == nil || k.stats.pods[pod.UID] == nil {
		return s, false
	}
	u, measured := k.stats.pods[pod.UID].usage[v.Name]
	if !measured {
		return s, false
	}
	s = statsv1alpha1.VolumeStats{Name: v.Name, FsStats: statsv1alpha1.FsStats{
		Time: metav1.NewTime(u.at), AvailableBytes: unsigned(u.Available), CapacityBytes: unsigned(u.Capacity), UsedBytes: unsigned(u.Used),
		Inodes: unsigned(u.Inodes), InodesFree: unsigned(u.InodesFree), InodesUsed: unsigned(u.InodesUsed),
	}}
	if claim, _, ok := volume.ClaimOf(pod, v); ok {
		s.PVCRef = &statsv1alpha1.PVCReference{Name: claim.Name, Namespace: claim.Namespace}
	}
	if u.Condition != nil {
		s.VolumeHealthStats = &statsv1alpha1.VolumeHealthStats{Abnormal: u.Condition.Abnormal}
	}
	return s, true
}

func unsigned(n int64) *uint64 {
	u := uint64(n)
	return &u
}
