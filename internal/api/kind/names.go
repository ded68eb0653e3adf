package store

// names are what kubectl calls the objects of a kind beside its plural and its singular.
type names struct{ short, categories []string }

// inAll is the category of what `kubectl get all` shows.
var inAll = []string{"all"}

// namesOf are those of the kinds that are built in, as the real server serves them.
var namesOf = map[string]names{
	"configmaps":     {short: []string{"cm"}},
	"cronjobs.batch": {short: []string{"cj"}, categories: inAll},
	"customresourcedefinitions.apiextensions.k8s.io": {short: []string{"crd", "crds"}, categories: []string{"api-extensions"}},
	"daemonsets.apps":                        {short: []string{"ds"}, categories: inAll},
	"deployments.apps":                       {short: []string{"deploy"}, categories: inAll},
	"endpoints":                              {short: []string{"ep"}},
	"events":                                 {short: []string{"ev"}},
	"ingresses.networking.k8s.io":            {short: []string{"ing"}},
	"jobs.batch":                             {categories: inAll},
	"limitranges":                            {short: []string{"limits"}},
	"namespaces":                             {short: []string{"ns"}},
	"networkpolicies.networking.k8s.io":      {short: []string{"netpol"}},
	"nodes":                                  {short: []string{"no"}},
	"persistentvolumeclaims":                 {short: []string{"pvc"}},
	"persistentvolumes":                      {short: []string{"pv"}},
	"poddisruptionbudgets.policy":            {short: []string{"pdb"}},
	"pods":                                   {short: []string{"po"}, categories: inAll},
	"priorityclasses.scheduling.k8s.io":      {short: []string{"pc"}},
	"replicasets.apps":                       {short: []string{"rs"}, categories: inAll},
	"replicationcontrollers":                 {short: []string{"rc"}, categories: inAll},
	"resourcequotas":                         {short: []string{"quota"}},
	"serviceaccounts":                        {short: []string{"sa"}},
	"services":                               {short: []string{"svc"}, categories: inAll},
	"statefulsets.apps":                      {short: []string{"sts"}, categories: inAll},
	"storageclasses.storage.k8s.io":          {short: []string{"sc"}},
	"volumeattributesclasses.storage.k8s.io": {short: []string{"vac"}},
	"volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io":  {short: []string{"vgsclass", "vgsclasses"}},
	"volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io": {short: []string{"vgsc", "vgscs"}},
	"volumegroupsnapshots.groupsnapshot.storage.k8s.io":        {short: []string{"vgs"}},
	"volumesnapshotclasses.snapshot.storage.k8s.io":            {short: []string{"vsclass", "vsclasses"}},
	"volumesnapshotcontents.snapshot.storage.k8s.io":           {short: []string{"vsc", "vscs"}},
	"volumesnapshots.snapshot.storage.k8s.io":                  {short: []string{"vs"}},
}
