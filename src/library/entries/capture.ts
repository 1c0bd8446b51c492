// Capture is a part of `svc-sandbox`; an import of this entry point adds nothing.
export {};
