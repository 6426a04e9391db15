;; Markdown that an agent writes has the faces of what it means.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defun face-of (words)
  "The face of WORDS in the buffer of runs."
  (goto-char (point-min))
  (search-forward words)
  (get-text-property (match-beginning 0) 'face))

(play (lambda ()
        (open-agent)
        (axe-run "Plan")
        (wait-for-log "✓ reader: Plan" "Done.")
        (with-current-buffer "*axe runs*"
          (font-lock-ensure)
          (should (equal (mapcar #'face-of '("# The plan" "bold" "slanted" "code" "2 *" "Done."))
                         '(bold bold italic font-lock-constant-face nil nil)))
          (should (equal (face-of "│ Done.") 'shadow)))))
