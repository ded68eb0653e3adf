package messages

// pvController are the messages of the PV controller.
var pvController = register(&Table{Messages: []Message{
	{"pv_controller.go", "Claim bound to volume", Bound},
	{"pv_controller.go", "Volume bound to claim", Bound},
	{"pv_controller.go", `volume "{pv}" bound to claim "{pvc}"`, Bound},
	{"pv_controller.go", `claim "{pvc}" bound to volume "{pv}"`, Bound},
	{"pv_controller.go", "Claim entered phase", None},
	{"pv_controller.go", `claim "{pvc}" entered phase "{phase}"`, None},
	{"pv_controller.go", "Volume entered phase", None},
	{"pv_controller.go", `volume "{pv}" entered phase "{phase}"`, None},
	{"pv_controller.go", "Volume is released and reclaim policy will be executed", Released},
	{"pv_controller.go", "Dynamically provisioned volume is released and it will be deleted", Released},
	{"pv_controller.go", `dynamically volume "{pv}" is released and it will be deleted`, Released},
	{"pv_controller.go", "Can't bind the claim to volume", None},
	{"pv_controller.go", "External deleter for volume requested, ignoring", None},
	{"pv_controller.go", `volume "{pv}" requires filesystem resize: setting pvc {pvc} status capacity to {}`, None},
	{"pvc_protection_controller.go", "Keeping PVC because it is being used", None},
	{"pvc_protection_controller.go", "Pod uses PVC", None},
	{"pvc_protection_controller.go", "PVC is unused", None},
	{"pvc_protection_controller.go", "Removed protection finalizer from PVC", None},
}})
