package kind

func init() {
	register(Kind{
		Group: "certificates.k8s.io", Version: "v1", Name: "CertificateSigningRequest",
		traits: clusterScoped | withStatus,
	})
}
