package apiserver

import (
	"net/http"
	"slices"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serveRoot answers requests that are not below a group and version.
func (q *request) serveRoot() (handled bool, err error) {
	switch path := strings.TrimSuffix(q.URL.Path, "/"); path {
	case "/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping", "/healthz/etcd", "/livez/etcd", "/readyz/etcd":
		q.answer.body(http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
		return true, nil
	case "/version":
		if q.Method != http.MethodGet {
			return true, errMethodNotAllowed
		}
		return true, q.answer.json(http.StatusOK, q.server.info())
	case openAPIV2Root:
		return true, q.serveSwagger()
	case "/api", "/apis":
		if q.wantsAggregated() {
			return true, q.answerAggregated(path == "/api")
		}
	}
	if strings.HasPrefix(q.URL.Path, openAPIRoot) {
		return true, q.serveOpenAPI()
	}
	return false, nil
}

// serveDiscovery lists groups, versions and resources.
func (q *request) serveDiscovery() error {
	legacy := strings.HasPrefix(q.URL.Path, "/api/") || q.URL.Path == "/api"
	switch {
	case legacy && q.info.apiVersion == "":
		return q.answer.json(http.StatusOK, &metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: q.Host}},
		})
	case !legacy && q.info.apiGroup == "":
		groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range q.server.kinds().groups() {
			if group.Name != "" {
				group.TypeMeta = metav1.TypeMeta{}
				groups.Groups = append(groups.Groups, group)
			}
		}
		return q.answer.json(http.StatusOK, &groups)
	case q.info.apiVersion == "":
		for _, group := range q.server.kinds().groups() {
			if group.Name == q.info.apiGroup {
				return q.answer.json(http.StatusOK, &group)
			}
		}
		http.NotFound(q.answer.w, q.Request)
		return nil
	}
	return q.serveVersion(schema.GroupVersion{Group: q.info.apiGroup, Version: q.info.apiVersion})
}

func (q *request) serveVersion(gv schema.GroupVersion) error {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(),
	}
	if gv.Group == "" {
		list.APIVersion = ""
	}
	list.APIResources = append(list.APIResources, storeless[gv]...)
	for _, k := range q.server.kinds().kinds {
		if k.gvr.GroupVersion() == gv && k.isDiscovered() {
			list.APIResources = append(list.APIResources, k.described()...)
		}
	}
	for _, r := range reviews {
		if r.gvk.GroupVersion() == gv {
			list.APIResources = append(list.APIResources, r.described())
		}
	}
	if len(list.APIResources) == 0 {
		return errNoSuchResource
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	return q.answer.json(http.StatusOK, &list)
}

// described returns the kind with its subresources.
func (k *servedKind) described() []metav1.APIResource {
	all := []metav1.APIResource{{
		Name: k.gvr.Resource, SingularName: k.singular, Namespaced: k.res.Namespaced, Kind: k.gvk.Kind,
		Verbs: k.verbs, ShortNames: k.shortNames, Categories: k.categories,
	}}
	for _, s := range k.subresources {
		part := metav1.APIResource{
			Name: k.gvr.Resource + "/" + s.Name, Namespaced: k.res.Namespaced, Kind: k.gvk.Kind, Verbs: s.Verbs,
		}
		if s.GVK.Kind != "" {
			part.Group, part.Version, part.Kind = s.GVK.Group, s.GVK.Version, s.GVK.Kind
		}
		if part.Group == k.gvk.Group {
			part.Group, part.Version = "", ""
		}
		all = append(all, part)
	}
	return all
}

// groups returns the groups with their versions.
func (c *catalog) groups() []metav1.APIGroup {
	var groups []metav1.APIGroup
	for _, k := range c.kinds {
		if !k.isDiscovered() {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: k.gvk.GroupVersion().String(), Version: k.gvk.Version}
		if n := len(groups); n == 0 || groups[n-1].Name != k.gvk.Group {
			groups = append(groups, metav1.APIGroup{
				TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: k.gvk.Group, PreferredVersion: version,
			})
		}
		group := &groups[len(groups)-1]
		if !slices.Contains(group.Versions, version) {
			group.Versions = append(group.Versions, version)
		}
	}
	for _, gv := range storelessGroups {
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		groups = append(groups, metav1.APIGroup{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: gv.Group, PreferredVersion: version,
			Versions: []metav1.GroupVersionForDiscovery{version},
		})
	}
	slices.SortStableFunc(groups, func(a, b metav1.APIGroup) int { return compareGroups(a.Name, b.Name) })
	return groups
}

// storelessGroups contain only resources that are not in the store.
var storelessGroups = []schema.GroupVersion{
	{Group: "authentication.k8s.io", Version: "v1"}, {Group: "authorization.k8s.io", Version: "v1"}, metricsVersion,
}

const aggregatedForm = typeJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func (q *request) wantsAggregated() bool {
	accept := strings.ReplaceAll(q.Header.Get("Accept"), " ", "")
	first, _, _ := strings.Cut(accept, ",")
	return strings.Contains(first, "as=APIGroupDiscoveryList") && strings.Contains(first, "v=v2")
}

// answerAggregated lists all groups, versions and kinds at once.
func (q *request) answerAggregated(legacy bool) error {
	list := discoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []discoveryv2.APIGroupDiscovery{},
	}
	for _, group := range q.server.kinds().groups() {
		if (group.Name == "") != legacy {
			continue
		}
		item := discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group.Name}}
		for _, v := range group.Versions {
			item.Versions = append(item.Versions, discoveryv2.APIVersionDiscovery{
				Version: v.Version, Freshness: discoveryv2.DiscoveryFreshnessCurrent,
				Resources: q.server.kinds().aggregated(schema.GroupVersion{Group: group.Name, Version: v.Version}),
			})
		}
		list.Items = append(list.Items, item)
	}
	q.answer.media.info.MediaType = aggregatedForm
	return q.answer.encoded(http.StatusOK, &list)
}

func (c *catalog) aggregated(gv schema.GroupVersion) []discoveryv2.APIResourceDiscovery {
	var all []discoveryv2.APIResourceDiscovery
	for _, r := range storeless[gv] {
		all = append(all, aggregatedOf(&r))
	}
	for _, k := range c.kinds {
		if k.gvk.GroupVersion() != gv || !k.isDiscovered() {
			continue
		}
		resource := discoveryv2.APIResourceDiscovery{
			Resource: k.gvr.Resource, ResponseKind: k.responseKind(), Scope: discoveryv2.ScopeCluster,
			SingularResource: k.singular, Verbs: k.verbs, ShortNames: k.shortNames, Categories: k.categories,
		}
		if k.res.Namespaced {
			resource.Scope = discoveryv2.ScopeNamespace
		}
		for _, s := range k.subresources {
			answer := &metav1.GroupVersionKind{Group: s.GVK.Group, Version: s.GVK.Version, Kind: s.GVK.Kind}
			if s.GVK.Kind == "" || s.GVK.Group == k.gvk.Group {
				answer = k.responseKind()
			}
			resource.Subresources = append(resource.Subresources, discoveryv2.APISubresourceDiscovery{
				Subresource: s.Name, ResponseKind: answer, Verbs: s.Verbs,
			})
		}
		all = append(all, resource)
	}
	for _, r := range reviews {
		if r.gvk.GroupVersion() != gv {
			continue
		}
		described := r.described()
		all = append(all, aggregatedOf(&described))
	}
	slices.SortStableFunc(all, func(a, b discoveryv2.APIResourceDiscovery) int { return strings.Compare(a.Resource, b.Resource) })
	return all
}

// aggregatedOf describes a resource without subresources.
func aggregatedOf(r *metav1.APIResource) discoveryv2.APIResourceDiscovery {
	scope := discoveryv2.ScopeCluster
	if r.Namespaced {
		scope = discoveryv2.ScopeNamespace
	}
	return discoveryv2.APIResourceDiscovery{
		Resource: r.Name, ResponseKind: &metav1.GroupVersionKind{Kind: r.Kind}, Scope: scope,
		SingularResource: r.SingularName, Verbs: r.Verbs, ShortNames: r.ShortNames,
	}
}

// storeless are resources that are not in the store, besides reviews.
var storeless = map[schema.GroupVersion][]metav1.APIResource{
	{Version: "v1"}: {
		{Name: "bindings", SingularName: "binding", Namespaced: true, Kind: "Binding", Verbs: []string{"create"}},
		{Name: componentStatuses, SingularName: "componentstatus", Kind: "ComponentStatus", Verbs: []string{"get", "list"}, ShortNames: []string{"cs"}},
	},
	metricsVersion: metricsResources,
}

// isDiscovered reports whether discovery lists the kind.
func (k *servedKind) isDiscovered() bool { return k.custom == nil || k.custom.established }

// responseKind returns the kind's name in aggregated discovery: built-in kinds omit their group.
func (k *servedKind) responseKind() *metav1.GroupVersionKind {
	if k.custom != nil {
		return &metav1.GroupVersionKind{Group: k.gvk.Group, Version: k.gvk.Version, Kind: k.gvk.Kind}
	}
	return &metav1.GroupVersionKind{Kind: k.gvk.Kind}
}
