package kind

func init() {
	register(Kind{
		Group: "admissionregistration.k8s.io", Version: "v1", Name: "ValidatingAdmissionPolicyBinding",
		traits: clusterScoped | withGeneration | conditional,
	})
}
