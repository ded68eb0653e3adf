package promotion

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ImagesOf returns the images of the containers of an object's pods.
func ImagesOf(object any) (images []string) {
	var pod corev1.PodSpec
	switch o := object.(type) {
	case *corev1.Pod:
		pod = o.Spec
	case *appsv1.StatefulSet:
		pod = o.Spec.Template.Spec
	case *appsv1.Deployment:
		pod = o.Spec.Template.Spec
	case *appsv1.DaemonSet:
		pod = o.Spec.Template.Spec
	case *appsv1.ReplicaSet:
		pod = o.Spec.Template.Spec
	case *batchv1.Job:
		pod = o.Spec.Template.Spec
	}
	for _, c := range append(append([]corev1.Container{}, pod.InitContainers...), pod.Containers...) {
		images = append(images, c.Image)
	}
	return images
}
