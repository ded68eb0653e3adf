package kind

import (
	certificatesv1 "k8s.io/api/certificates/v1"
)

func init() {
	register(Kind{
		Group: "certificates.k8s.io", Version: "v1", Name: "CertificateSigningRequest",
		traits: clusterScoped | withStatus,
		Fields: selectable(map[string]func(*certificatesv1.CertificateSigningRequest) string{
			"spec.signerName": func(o *certificatesv1.CertificateSigningRequest) string { return o.Spec.SignerName },
		}),
	})
}
