;; A Codex project is opened without any settings: a mistake is seen and corrected.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (open-agent)
        (wait-for-diagnostics "unknown-key model_reasoning_efort")
        (exchange "efort" "effort")
        (wait-for-diagnostics)
        (save-buffer)))
