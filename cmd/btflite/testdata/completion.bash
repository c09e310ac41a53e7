# bash completion for btflite, written by "btflite completion bash"
_btflite() {
	local cur=${COMP_WORDS[COMP_CWORD]} words
	COMPREPLY=()
	case ${COMP_WORDS[1]} in
	modules) words='--btf_base= --btf_encode_detached_dir= --extra_vars --jobs --memory_limit= --debug_dir= --dedup= --btf_sort --btf_compat= --full_sizes --stats --help --btf_features= --btf_features_strict= --supported_btf_features --kabi_prefix= --fixup_silly_bitfields --lang= --lang_exclude= --cu_exclude= --btf_gen_all --btf_encode_force --btf_gen_floats --btf_gen_optimized --btf_attributes --reproducible_build --skip_encoding_btf_vars --skip_encoding_btf_decl_tag --skip_encoding_btf_type_tag --skip_encoding_btf_enum64 --skip_encoding_btf_inconsistent_proto --format_path= --hashbits= --ptr_table_stats --quiet --devel_version --usage' ;;
	dedup) words='--output= --btf_base= --dedup= --help' ;;
	sort) words='--btf_sort --btf_base= --help' ;;
	verify) words='--btf_base= --kernel= --boot --no-dups --verbose --help' ;;
	diff) words='--btf_base= --btf_base_b= --functions --summary --json --help' ;;
	*) words='--btf_encode --btf_encode_detached= --extra_vars= --jobs --memory_limit= --dedup= --btf_sort --debug_dir= --btf_base= --btf_compat= --btf_features= --btf_features_strict= --supported_btf_features --kabi_prefix= --fixup_silly_bitfields --lang= --lang_exclude= --cu_exclude= --verbose --stats --report= --version --numeric_version --help --btf_gen_all --btf_encode_force --btf_gen_floats --btf_gen_optimized --btf_attributes --reproducible_build --skip_encoding_btf_vars --skip_encoding_btf_decl_tag --skip_encoding_btf_type_tag --skip_encoding_btf_enum64 --skip_encoding_btf_inconsistent_proto --format_path= --hashbits= --ptr_table_stats --quiet --devel_version --usage' ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
	elif [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -f -W 'modules dedup sort verify diff version' -- "$cur")
	fi
	return 0
}
complete -o default -F _btflite btflite
