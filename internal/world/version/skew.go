package version

import "fmt"

// Kubelets may be older than the API server by this many minor versions; kubelets before v1.25 by
// fewer.
const (
	maxSkew    = 3
	maxSkewOld = 2
)

// sinceWiderSkew is the first kubelet that may be three versions behind.
const sinceWiderSkew Version = 25

// CheckSkew returns the reason why a kubelet cannot work with a control plane. The rules come from
// Kubernetes' version skew policy (kubernetes.io/releases/version-skew-policy).
func CheckSkew(kubelet, controlPlane Version) error {
	behind := controlPlane.Minor() - kubelet.Minor()
	most := maxSkew
	if kubelet.Minor() < int(sinceWiderSkew) {
		most = maxSkewOld
	}
	switch {
	case behind < 0:
		return fmt.Errorf("a kubelet of version %s is newer than the control plane (%s), which Kubernetes does not support: upgrade the control plane first", kubelet, controlPlane)
	case behind > most:
		return fmt.Errorf("a kubelet of version %s is %d minor versions older than the control plane (%s), Kubernetes supports %d: upgrade the kubelet first", kubelet, behind, controlPlane, most)
	}
	return nil
}

// CheckUpgrade returns the reason why a control plane cannot change from one version to another.
func CheckUpgrade(from, to Version) error {
	switch steps := to.Minor() - from.Minor(); {
	case steps < 0:
		return fmt.Errorf("a control plane of version %s cannot go back to %s", from, to)
	case steps > 1:
		return fmt.Errorf("a control plane of version %s cannot skip to %s, Kubernetes supports one minor version at a time: upgrade to %s first", from, to, Version(from.Minor()+1))
	}
	return nil
}
