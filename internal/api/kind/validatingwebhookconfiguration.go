package kind

func init() {
	register(Kind{
		Group: "admissionregistration.k8s.io", Version: "v1", Name: "ValidatingWebhookConfiguration",
		traits: clusterScoped | withGeneration | conditional,
	})
}
