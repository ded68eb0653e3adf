package store

func init() {
	group("admissionregistration.k8s.io", "v1",
		kind{name: "MutatingWebhookConfiguration", traits: clusterScoped | withGeneration | conditional},
		kind{name: "ValidatingAdmissionPolicy", traits: clusterScoped | withStatus | withGeneration | conditional},
		kind{name: "ValidatingAdmissionPolicyBinding", traits: clusterScoped | withGeneration | conditional},
		kind{name: "ValidatingWebhookConfiguration", traits: clusterScoped | withGeneration | conditional},
	)
	group("certificates.k8s.io", "v1",
		kind{name: "CertificateSigningRequest", traits: clusterScoped | withStatus},
	)
	group("coordination.k8s.io", "v1",
		kind{name: "Lease", traits: conditional, rules: leaseRules},
	)
	group("discovery.k8s.io", "v1",
		kind{name: "EndpointSlice", traits: withGeneration},
	)
	group("flowcontrol.apiserver.k8s.io", "v1",
		kind{name: "FlowSchema", traits: clusterScoped | withStatus | withGeneration},
		kind{name: "PriorityLevelConfiguration", traits: clusterScoped | withStatus | withGeneration},
	)
	group("networking.k8s.io", "v1",
		kind{name: "Ingress", traits: withStatus | withGeneration},
		kind{name: "IngressClass", traits: clusterScoped | withGeneration},
		kind{name: "IPAddress", traits: clusterScoped},
		kind{name: "NetworkPolicy", traits: withGeneration},
		kind{name: "ServiceCIDR", traits: clusterScoped | withStatus},
	)
	group("node.k8s.io", "v1",
		kind{name: "RuntimeClass", traits: clusterScoped | conditional},
	)
	group("resource.k8s.io", "v1",
		kind{name: "DeviceClass", traits: clusterScoped | withGeneration},
		kind{name: "ResourceClaim", traits: withStatus},
		kind{name: "ResourceClaimTemplate"},
		kind{name: "ResourceSlice", traits: clusterScoped | withGeneration},
	)
}
