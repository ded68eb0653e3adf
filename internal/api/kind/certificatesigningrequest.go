package kind

import (
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "certificates.k8s.io", Version: "v1", Name: "CertificateSigningRequest",
		traits: clusterScoped | withStatus,
		Fields: map[string]func(store.Object) string{
			"spec.signerName": func(o store.Object) string { return o.(*certificatesv1.CertificateSigningRequest).Spec.SignerName },
		},
	})
}
